// The board: a list of runs, one run, a comparison. The address after # says which, so that the
// browser's own buttons work. Each view has its own file and gets an abort signal, which ends its
// requests and streams when another view is opened.
import { compare } from "./compare.js";
import { el, main, show } from "./dom.js";
import { list } from "./list.js";
import { one } from "./run.js";
import { sweep } from "./sweep.js";

const views = [
  [/^#\/run\/(\d+)$/, (signal, id) => one(signal, Number(id))],
  [/^#\/compare\/(\d+(?:,\d+)+)$/, (signal, ids) => compare(signal, ids.split(",").map(Number))],
  [/^#\/sweep(?:\/(.*))?$/, sweep],
  [/^/, list],
];
let current = new AbortController();
const AGAIN = 2000;   // milliseconds; the board may have been busy, or away
const isFinal = (error) => error.status >= 400 && error.status < 500;

// The same failure is not shown twice.
function showFailure(text) {
  if (main.querySelector("[role=alert]")?.textContent === text) return;
  show(el("p", { class: "error", role: "alert" }, text), el("p", {}, el("a", { href: "#/" }, "All runs")));
}
async function open() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  for (const [pattern, view] of views) {
    const found = pattern.exec(location.hash);
    if (!found) continue;
    try {
      await view(signal, ...found.slice(1));
    } catch (error) {
      if (signal.aborted) return;
      showFailure(`This cannot be shown: ${error.message}`);
      if (!isFinal(error)) setTimeout(() => { if (!signal.aborted) open(); }, AGAIN);
    }
    return;
  }
}
// The skip link moves the focus; the address stays that of the view.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => { open(); main.focus(); });
open();
