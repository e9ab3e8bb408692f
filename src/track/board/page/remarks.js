// Tags and notes of a run; and deleting runs, after a confirmation.
import { button, el, plural, post, say } from "./dom.js";

export const tagsOf = (run) => (run.tags ?? "").split(" ").filter(Boolean);
export const tagList = (run) => el("span", { class: "tags" }, tagsOf(run).map((tag) => el("span", { class: "tag" }, tag)));

// Editable tags and notes of a run. The text stays in the form if it cannot be saved.
export function remarks(run) {
  const tags = el("input", { type: "text", id: "tags", autocomplete: "off", value: run.tags ?? "", placeholder: "baseline best" });
  const notes = el("textarea", { id: "notes", rows: "3", placeholder: "What was tried, and what came of it" });
  notes.value = run.notes ?? "";
  const outcome = el("span", { class: "faint", role: "status" });
  const save = async (event) => {
    event.preventDefault();
    try {
      Object.assign(run, await post(`/api/runs/${run.id}/notes`, { tags: tags.value, notes: notes.value }));
      tags.value = run.tags;
      outcome.className = "faint";
      outcome.textContent = "Saved.";
    } catch (error) {
      outcome.className = "error";
      outcome.textContent = `Not saved: ${error.message}`;
    }
  };
  for (const field of [tags, notes]) field.addEventListener("input", () => { outcome.textContent = "Not saved yet."; });
  return el("form", { class: "remarks", onsubmit: save }, [
    el("label", { for: "tags" }, "Tags"), tags, el("label", { for: "notes" }, "Notes"), notes,
    el("span", { class: "bar" }, [el("button", { type: "submit", class: "button" }, "Save"), outcome])]);
}

// Asks for confirmation, and deletes the runs; `done` is called with those that were deleted.
export function forget(runs, done) {
  const outcome = el("p", { class: "error", role: "alert" });
  const list = runs.length === 1 ? `run ${runs[0].id}` : plural(runs.length, "run");
  const dialog = el("dialog", { "aria-labelledby": "forget-title", onclose: () => dialog.remove() });
  const confirm = button(`Delete ${list}`, async () => {
    const gone = [];
    confirm.disabled = true;
    try {
      for (const run of runs) { await post(`/api/runs/${run.id}/remove`, {}); gone.push(run.id); }
      dialog.close();
      say(`${list} deleted`);
    } catch (error) {
      outcome.textContent = `Not deleted: ${error.message}`;
    }
    if (gone.length > 0) done(gone);
  }, { class: "button bad" });
  const folders = runs.map((run) => run.folder).filter(Boolean);
  dialog.append(el("h2", { id: "forget-title" }, `Delete ${list} from the history?`),
    el("p", {}, "Curves, tags and notes are deleted and cannot be brought back."),
    ...(folders.length ? [el("p", {}, ["Files stay: ", el("code", {}, folders.slice(0, 3).join(", ") + (folders.length > 3 ? ` and ${folders.length - 3} more` : ""))])] : []),
    outcome, el("div", { class: "bar" }, [button("Cancel", () => dialog.close(), { autofocus: true }), confirm]));
  document.body.append(dialog);
  dialog.showModal();
}
