// The list of runs. The server sorts and filters; this file has the columns, and the choice of
// columns.
import { button, duration, el, fixed, get, hyper, hyperNames, kept, last, plural, redraw, say, short, show, status, when } from "./dom.js";
import { forget, tagList } from "./remarks.js";

// name: what the board calls it; title; right: of numbers; hidden: not shown unless chosen.
const fixedColumns = [
  { name: "id", title: "run", right: true, cell: (r) => el("a", { href: `#/run/${r.id}`, "data-key": `run ${r.id}` }, String(r.id)) },
  { name: "started", title: "started", cell: (r) => when(r.started) },
  { name: "program", title: "program", cell: (r) => last(r.program) },
  { name: "status", title: "status", cell: status },
  { name: "step", title: "steps", right: true, cell: (r) => `${r.step ?? 0} / ${r.steps}` },
  { name: "loss", title: "loss", right: true, cell: (r) => short(r.loss) },
  { name: "eval_loss", title: "eval loss", right: true, hidden: true, cell: (r) => short(r.eval_loss) },
  { name: "accuracy", title: "accuracy", right: true, cell: (r) => fixed(r.accuracy) },
  { name: "seconds", title: "time", right: true, cell: (r) => duration(r.seconds) },
  { name: "seed", title: "seed", right: true, cell: (r) => r.seed },
  { name: "tags", title: "tags", cell: tagList, empty: (r) => !r.tags },
  { name: "notes", title: "notes", hidden: true, wide: true, cell: (r) => r.notes ?? "–" },
  { name: "weights_sha256", title: "weights", hash: true, cell: (r) => r.weights_sha256?.slice(0, 8) ?? "–" },
  { name: "data", title: "data", hidden: true, cell: (r) => r.data ?? "–" },
  { name: "folder", title: "folder", hidden: true, cell: (r) => r.folder ?? "–" },
  { name: "device", title: "device", hidden: true, cell: (r) => r.device ?? "cpu" },
  { name: "backend", title: "kernels", hidden: true, cell: (r) => r.backend ?? "–" },
  { name: "threads", title: "threads", right: true, hidden: true, cell: (r) => String(r.threads ?? "–") },
  { name: "version", title: "version", hidden: true, cell: (r) => r.version ?? "–" },
];
const hyperColumn = (name, hidden) => ({ name, title: name, right: true, hidden, cell: (r) => String(hyper(r, name) ?? "–") });

// Hyperparameters precede the tags; those in which the runs differ are shown.
function allColumns({ runs, varying }) {
  const at = fixedColumns.findIndex((c) => c.name === "tags");
  const own = new Set(fixedColumns.map((c) => c.name));
  const names = [...varying, ...hyperNames(runs).filter((name) => !varying.includes(name))].filter((name) => !own.has(name));
  return [...fixedColumns.slice(0, at), ...names.map((name) => hyperColumn(name, !varying.includes(name))), ...fixedColumns.slice(at)];
}

const EMPTY = "tern train model.ail --allow fileread --out runs/1";

// The whole command, to be copied.
function emptyState() {
  const copied = button("Copy", async () => {
    await navigator.clipboard.writeText(EMPTY);
    copied.textContent = "Copied";
    say("the command is copied");
  });
  return el("div", {}, [el("h2", {}, "Runs"), el("p", {}, "No runs yet. A training with a folder is recorded:"),
    el("div", { class: "bar command" }, [el("pre", { tabindex: "0", "aria-label": "a command to start with" }, EMPTY), copied]),
    el("p", { class: "faint" }, ["No program yet? ", el("code", {}, "tern new NAME"), " makes a small project that trains. This page notices the run by itself."])]);
}

export async function list(signal) {
  const wish = { order: "id", way: "", words: kept.get("words", "") };
  const choice = kept.get("columns", {});   // name: whether it is shown, where somebody has said so
  const chosen = new Set();
  let answer = { runs: [], varying: [] }, columns = [], asked = 0;

  // A column without any value is not shown unless chosen.
  const isShown = (c) => choice[c.name] ?? (!c.hidden && !(c.empty && answer.runs.every(c.empty)));

  // ---- controls ----

  const compare = el("a", { class: "button", "aria-disabled": "true" });
  const plot = el("a", { class: "button", href: "#/sweep" }, "Sweep plots");
  const remove = button("Delete …", () => forget(answer.runs.filter((r) => chosen.has(r.id)), (gone) => {
    for (const id of gone) choose(id, false);
    refresh();
  }), { class: "button bad", hidden: true });
  const search = el("input", { type: "search", value: wish.words, placeholder: "Filter: lr=0.1  loss<0.5  status!=killed", "aria-label": "Filter the runs",
    "aria-describedby": "filter-help", oninput: () => { wish.words = search.value; kept.set("words", wish.words); refresh(); } });
  const help = el("span", { id: "filter-help", class: "unseen" },
    "Words that a run contains, or comparisons of a column with a value, as in lr=0.1 or loss<0.5. All must hold.");
  const order = el("select", { "aria-label": "Sort by", onchange: () => sortBy(order.value) });
  const way = button("", () => { wish.way = answer.way === "down" ? "up" : "down"; refresh(); }, { class: "button way" });
  const chooser = el("details", { class: "chooser" }), boxes = el("fieldset");
  chooser.append(el("summary", { class: "button" }, "Columns"), boxes);
  chooser.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !chooser.open) return;
    chooser.open = false;
    chooser.querySelector("summary").focus();
  });
  const headRow = el("tr", { role: "row" }), body = el("tbody", { role: "rowgroup" });
  const table = el("table", { role: "table", class: "runs", "aria-label": "runs" }, [el("thead", { role: "rowgroup" }, headRow), body]);

  function sortBy(name) {
    wish.way = answer.order === name ? answer.way === "down" ? "up" : "down" : "";   // "": what suits the column
    wish.order = name;
    refresh();
  }
  function choose(id, on) {
    if (on) chosen.add(id); else chosen.delete(id);
    const ready = chosen.size >= 2;
    compare.setAttribute("aria-disabled", String(!ready));
    if (ready) compare.href = `#/compare/${[...chosen].join(",")}`; else compare.removeAttribute("href");
    remove.hidden = chosen.size === 0;
    compare.textContent = ready ? `Compare ${chosen.size} runs` : "Compare: choose two or more";
  }

  // ---- drawing ----

  function head(c) {
    const sorted = answer.order === c.name;
    const arrow = sorted ? el("span", { class: "arrow", "aria-hidden": "true" }, answer.way === "down" ? " ▼" : " ▲") : "";
    return el("th", { role: "columnheader", scope: "col", class: c.right && "right", "aria-sort": !sorted ? "none" : answer.way === "down" ? "descending" : "ascending" },
      el("button", { type: "button", "data-key": `sort ${c.name}`, onclick: () => sortBy(c.name) }, [c.title, arrow]));
  }
  function row(run, shown) {
    const box = el("input", { type: "checkbox", "aria-label": `choose run ${run.id}`, "data-key": `choose ${run.id}`, onchange: () => choose(run.id, box.checked) });
    box.checked = chosen.has(run.id);
    return el("tr", { role: "row", "data-row": run.id }, [el("td", { role: "cell", class: "box" }, box),
      ...shown.map((c) => el("td", { role: "cell", class: [c.right && "right", c.hash && "hash", c.wide && "wide"].filter(Boolean).join(" "), "data-label": c.title }, c.cell(run)))]);
  }
  function drawChooser() {
    redraw(boxes, el("legend", { class: "unseen" }, "Columns"), ...columns.map((c) => {
      const box = el("input", { type: "checkbox", "data-key": `column ${c.name}`,
        onchange: () => { choice[c.name] = box.checked; kept.set("columns", choice); draw(); } });
      box.checked = isShown(c);
      return el("label", {}, [box, c.title]);
    }), button("As usual", () => { for (const name of Object.keys(choice)) delete choice[name]; kept.set("columns", choice); draw(); }, { "data-key": "columns as usual" }));
  }
  function drawOrder() {
    redraw(order, ...columns.map((c) => el("option", { value: c.name }, c.title)));
    order.value = answer.order;
    way.textContent = answer.way === "down" ? "▼" : "▲";
    way.setAttribute("aria-label", answer.way === "down" ? "falling; turn the order round" : "rising; turn the order round");
  }
  function draw() {
    columns = allColumns(answer);
    const shown = columns.filter(isShown);
    redraw(headRow, el("th", { role: "columnheader", scope: "col" }, el("span", { class: "unseen" }, "choose")), ...shown.map(head));
    redraw(body, ...answer.runs.map((run) => row(run, shown)));
    drawChooser();
    drawOrder();
    plot.href = `#/sweep/${encodeURIComponent(wish.words)}`;   // of the runs that are listed
    plot.hidden = answer.varying.length === 0;
    none.hidden = answer.runs.length > 0;
  }
  const nothing = emptyState(), none = el("p", { class: "empty", hidden: true }, "No run fits the filter.");

  // ---- asking ----

  // A failure is shown beside the old list; the next request may succeed.
  const refresh = () => ask().catch(() => {});
  async function ask() {
    const turn = ++asked;
    const next = await get(`/api/runs?${new URLSearchParams(wish)}`, signal);
    if (turn !== asked) return;   // another question has been asked meanwhile
    const same = JSON.stringify(next) === JSON.stringify(answer);
    answer = next;
    const running = answer.runs.filter((r) => r.status === "running").length;
    say(`${answer.more ? "the first " : ""}${plural(answer.runs.length, "run")}${running ? `, ${running} running` : ""}`);
    if (answer.runs.length === 0 && !wish.words) return nothing.isConnected || show(nothing);
    if (!table.isConnected) {
      show(el("h2", {}, "Runs"), el("div", { class: "bar" }, [search, help, el("span", { class: "order" }, [order, way]), chooser, plot, compare, remove]),
        el("div", { class: "scroll" }, table), none);
      draw();
    } else if (!same) draw();
  }
  choose(0, false);
  await ask();
  const timer = setInterval(refresh, 2000);
  signal.addEventListener("abort", () => clearInterval(timer));
}
