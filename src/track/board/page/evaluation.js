// What `tern evaluate --record` found: the confusion matrix, and the rows that the model gets most wrong.
import { el, get, plural, short } from "./dom.js";

const cell = (tag, text, attributes) => el(tag, attributes, text);
const head = (text, scope = "col", kind = "") => cell("th", text, { scope, class: kind });
const table = (kind, caption, heads, rows) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
  el("table", { class: kind }, [el("caption", {}, caption), el("thead", {}, heads), el("tbody", {}, rows)]));

// The share of the row is shown as a shade; the count is always shown as text.
function shaded(count, sum, right) {
  const out = cell("td", String(count), { class: `right ${right ? "hit" : "miss"}` });
  out.style.setProperty("--share", `${sum > 0 ? Math.round((count / sum) * 45) : 0}%`);
  return out;
}

function matrix({ classes, confusion }) {
  const heads = el("tr", {}, [head("class"), ...classes.map((name) => head(name, "col", "right")), head("right", "col", "right")]);
  return table("confusion", "Confusion matrix: a row per class, a column per prediction", heads, confusion.map((counts, i) => {
    const sum = counts.reduce((a, b) => a + b, 0);
    return el("tr", {}, [head(classes[i], "row"), ...counts.map((count, k) => shaded(count, sum, k === i)),
      cell("td", sum > 0 ? `${((100 * counts[i]) / sum).toFixed(1)} %` : "–", { class: "right" })]);
  }));
}

// Every member that one of the rows has is a column.
const COLUMNS = [["line", "line"], ["row", "row"], ["place", "place"], ["class", "class"], ["predicted", "predicted"], ["probability", "probability of the class"],
  ["loss", "loss"], ["value", "value"], ["answer", "answer"], ["error", "error"]];
const TEXTS = ["class", "predicted"];
function worst(rows) {
  const columns = COLUMNS.filter(([name]) => rows.some((row) => row[name] !== undefined));
  const kind = (name) => TEXTS.includes(name) ? "" : "right";
  const write = (name, value) => value === undefined ? "–" : typeof value === "number" && !Number.isInteger(value) ? short(value) : String(value);
  return table("worst", `The ${rows.length === 1 ? "worst row" : `${rows.length} worst rows`}`, el("tr", {}, columns.map(([name, title]) => head(title, "col", kind(name)))),
    rows.map((row) => el("tr", {}, columns.map(([name]) => cell("td", write(name, row[name]), { class: kind(name) })))));
}

function parts(found, run) {
  const metrics = Object.entries(found.metrics).map(([name, value]) => `, ${name} ${short(value)}`).join("");
  const other = found.weights_sha256 && run.weights_sha256 && found.weights_sha256 !== run.weights_sha256;
  return [el("h3", {}, "Evaluation"), el("p", {}, `${found.data}: ${plural(found.rows, "row")}${metrics}`),
    ...(other ? [el("p", { class: "error" }, "The run has other weights by now: evaluate it again.")] : []),
    ...(found.confusion ? [matrix(found)] : []),
    ...(found.class_count && !found.confusion ? [el("p", { class: "faint" }, `${found.class_count} classes are too many for a matrix.`)] : []),
    ...(found.worst?.length ? [worst(found.worst)] : [])];
}

// Empty where nothing was recorded.
export async function evaluation(run, signal) {
  try {
    const { evaluation: found } = await get(`/api/runs/${run.id}/evaluation`, signal);
    return found ? parts(found, run) : [];
  } catch (error) {
    return [el("h3", {}, "Evaluation"), el("p", { class: "error" }, error.message)];
  }
}
