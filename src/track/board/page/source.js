// The text of a program, with syntax colours. It is only ever shown as text.
import { el } from "./dom.js";

const kinds = [
  ["comment", /^(?:#|\/\/).*/], ["text", /^"(?:[^"\\]|\\.)*"?/], ["number", /^\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/],
  ["word", /^[A-Za-z_]\w*/], ["", /^\s+/], ["", /^[^\s\w"#/]+|^./],
];
const keywords = new Set(["model", "train", "dataset", "eval", "param", "const", "fn", "let", "return", "if", "else", "for", "in", "repeat", "layer", "app", "state",
  "on", "input", "output", "import", "as", "and", "or", "not", "true", "false"]);

// Pieces of one line: texts, and elements with a class.
export function highlight(line) {
  const out = [];
  for (let rest = line; rest.length > 0;) {
    const [kind, pattern] = kinds.find(([, p]) => p.test(rest));
    const text = pattern.exec(rest)[0];
    const shown = kind === "word" ? keywords.has(text) ? "keyword" : /^\s*\(/.test(rest.slice(text.length)) ? "call" : "" : kind;
    out.push(shown ? el("span", { class: `hl-${shown}` }, text) : text);
    rest = rest.slice(text.length);
  }
  return out;
}

// Numbered lines; `line(n)` scrolls to one and marks it, and `onLine(n)` is called for a click on
// one.
export function source(text, onLine) {
  const rows = text.replace(/\n$/, "").split("\n").map((line, i) =>
    el("span", { class: "row", id: `line-${i + 1}`, tabindex: "-1" }, [el("span", { class: "line", "aria-hidden": "true" }, String(i + 1)), el("code", {}, highlight(line)), "\n"]));
  rows.forEach((row, i) => row.addEventListener("click", () => { line(i + 1, false); onLine?.(i + 1); }));
  const element = el("pre", { class: "source", tabindex: "0", role: "region", "aria-label": "the program's text" }, rows);
  const line = (n, into = true) => {
    for (const row of rows) row.classList.toggle("marked", row === rows[n - 1]);
    if (into) rows[n - 1]?.scrollIntoView({ block: "center" });
    return rows[n - 1];
  };
  return { element, line };
}
