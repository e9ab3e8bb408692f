// The graph of a model: drawn by the server, with calls of functions and layers as boxes that open.
// Here it is moved and zoomed; a click on a box shows its line of the program, and a click on a
// line its boxes.
import { button, el, say } from "./dom.js";

const NEAREST = 0.05, STEP = 1.25, CLICK = 5, READABLE = 0.8;   // the least part that is shown; one zoom; pixels that are no drag; a scale

// `toLine(n)` shows a line of the program.
export function graph(id, signal, toLine) {
  const open = new Map();   // number of a call that is open: its title
  let all = false, picture = null, whole = null, view = null;
  const stage = el("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "graph of the model; arrow keys move it, plus and minus zoom, 0 shows all" });
  const chips = el("span", { class: "bar chips" });
  const expand = button("Expand all", () => { all = true; open.clear(); load(); }), collapse = button("Collapse all", () => { all = false; open.clear(); load(); });
  const bar = el("div", { class: "bar" }, [button("+", () => zoom(1 / STEP), { "aria-label": "zoom in" }), button("−", () => zoom(STEP), { "aria-label": "zoom out" }),
    button("Fit", () => fit()), expand, collapse, chips]);
  const element = el("div", { class: "graph" }, [bar, stage]);

  // ---- the part that is seen ----

  function look(next) {
    view = next;
    picture.setAttribute("viewBox", [view.x, view.y, view.w, view.h].map((n) => n.toFixed(2)).join(" "));
  }
  function fit() { if (picture) look({ ...whole }); }
  // At first a large graph is shown from its top, in letters that can be read.
  function begin() {
    const { width, height } = stage.getBoundingClientRect(), scale = Math.max(READABLE, Math.min(width / whole.w, height / whole.h, 1));
    const [w, h] = [width / scale, height / scale];
    look({ x: (whole.w - w) / 2, y: h > whole.h ? (whole.h - h) / 2 : 0, w, h });
  }
  // `at` is what stays where it is: shares of the stage.
  function zoom(factor, at = [0.5, 0.5]) {
    if (!picture) return;
    const w = Math.min(whole.w * 2, Math.max(whole.w * NEAREST, view.w * factor)), h = view.h * w / view.w;
    look({ x: view.x + (view.w - w) * at[0], y: view.y + (view.h - h) * at[1], w, h });
  }
  const move = (x, y) => { if (picture) look({ ...view, x: view.x + x * view.w, y: view.y + y * view.h }); };

  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== stage) return;   // the page scrolls past it otherwise
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(event.deltaY > 0 ? STEP : 1 / STEP, [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
      "+": () => zoom(1 / STEP), "-": () => zoom(STEP), "0": fit };
    const node = event.target.closest?.(".node");
    if (event.key === "Enter" && node) act(node);
    else if (event.key in keys) keys[event.key]();
    else return;
    event.preventDefault();
  });
  let drag = null;
  stage.addEventListener("pointerdown", (event) => { if (event.button === 0 && view) drag = { x: event.clientX, y: event.clientY, view: { ...view }, far: false }; });
  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const box = stage.getBoundingClientRect(), [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.far ||= Math.hypot(x, y) > CLICK;
    const scale = Math.max(drag.view.w / box.width, drag.view.h / box.height);
    if (drag.far) look({ ...drag.view, x: drag.view.x - x * scale, y: drag.view.y - y * scale });
  }, { signal });
  addEventListener("pointerup", (event) => {
    const far = drag?.far;
    drag = null;
    const node = event.target.closest?.(".node");
    if (far === false && node && stage.contains(node)) act(node);
  }, { signal });

  // ---- what a box does ----

  function act(node) {
    if (node.dataset.call) { open.set(node.dataset.call, node.querySelector("title").textContent.split(",")[0]); load(); return; }
    if (node.dataset.line) { mark(Number(node.dataset.line)); toLine(Number(node.dataset.line)); }
  }
  // The boxes of a line.
  function mark(line) {
    for (const node of stage.querySelectorAll(".node")) node.classList.toggle("marked", node.dataset.line === String(line));
  }
  function drawChips() {
    chips.replaceChildren(...[...open].map(([call, title]) => button(`${title} ✕`, () => { open.delete(call); load(); }, { "aria-label": `collapse ${title}` })));
    collapse.disabled = !all && open.size === 0;
    expand.disabled = all || !stage.querySelector("[data-call]");
  }

  // ---- asking ----

  // The picture has no colours: the page sets them (board.css).
  function take(text) {
    const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    picture = document.adoptNode(found);
    const [, , w, h] = picture.getAttribute("viewBox").split(" ").map(Number);
    whole = { x: 0, y: 0, w, h };
    for (const name of ["width", "height"]) picture.removeAttribute(name);
    picture.setAttribute("role", "group");
    for (const node of picture.querySelectorAll(".node")) {
      const said = node.querySelector("title").textContent;
      node.setAttribute("tabindex", "0");
      node.setAttribute("role", node.dataset.call ? "button" : "link");
      node.setAttribute("aria-label", node.dataset.call ? `${said}; opens` : said);
      if (node.dataset.call) node.setAttribute("aria-expanded", "false");
    }
    stage.replaceChildren(picture);
    begin();
  }
  async function load() {
    const wanted = all ? "all" : [...open.keys()].join(",");
    try {
      const response = await fetch(`/api/runs/${id}/graph?open=${wanted}`, { signal });
      const text = await response.text();
      if (!response.ok) throw new Error(JSON.parse(text).reason);
      take(text);
      say(all ? "every operation is shown" : open.size ? `${[...open.values()].join(", ")} open` : "functions and layers are boxes");
    } catch (error) {
      if (signal.aborted) return;
      picture = null;
      stage.replaceChildren(el("p", { class: "empty" }, error.message));
    }
    drawChips();
  }
  load();
  return { element, mark };
}
