// Two programs side by side, with the lines that only one of them has. The server finds them; here
// they are merged with the common lines.
import { button, el, plural } from "./dom.js";
import { highlight } from "./source.js";

const AROUND = 3;   // lines shown before and after a change

const linesOf = (text) => (text ?? "").replace(/\n$/, "").split("\n");

// [{kind: "same" | "old" | "new", old, new, text}]; `changed` are the lines that the board has found.
function merge(a, b, changed) {
  const gone = new Set(changed.filter((c) => c.run === 0).map((c) => c.line));
  const come = new Set(changed.filter((c) => c.run === 1).map((c) => c.line));
  const out = [];
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    if (i < a.length && gone.has(i + 1)) out.push({ kind: "old", old: ++i, text: a[i - 1] });
    else if (k < b.length && come.has(k + 1)) out.push({ kind: "new", new: ++k, text: b[k - 1] });
    else out.push({ kind: "same", old: ++i, new: ++k, text: a[i - 1] ?? b[k - 1] ?? "" });
  }
  return out;
}

const marks = { same: ["", " "], old: ["removed: ", "−"], new: ["added: ", "+"] };
function row(line) {
  const [said, mark] = marks[line.kind];
  return el("tr", { class: line.kind }, [el("td", { class: "line" }, line.old ? String(line.old) : ""), el("td", { class: "line" }, line.new ? String(line.new) : ""),
    el("td", { class: "text" }, [el("span", { class: "unseen" }, said), el("span", { "aria-hidden": "true" }, `${mark} `), ...highlight(line.text)])]);
}

// Long unchanged parts are folded until the user opens them.
export function difference(first, second, changed) {
  if (changed.length === 0) return el("p", {}, "The programs are the same.");
  const all = merge(linesOf(first.source), linesOf(second.source), changed);
  const near = all.map((_, i) => all.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((l) => l.kind !== "same"));
  const body = el("tbody");
  for (let i = 0; i < all.length;) {
    let end = i;
    while (end < all.length && near[end] === near[i]) end++;
    const part = all.slice(i, end).map(row);
    if (near[i] || part.length <= 2) body.append(...part);
    else {
      const fold = el("tr", { class: "fold" }, el("td", { colspan: "3" }, button(`show ${plural(part.length, "line")} that are the same`, () => fold.replaceWith(...part))));
      body.append(fold);
    }
    i = end;
  }
  return el("div", { class: "scroll" }, el("table", { class: "difference", "aria-label": `the program of run ${first.id} against that of run ${second.id}` }, body));
}
