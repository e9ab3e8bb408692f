// Curves over steps. The charts of a group share the step under the pointer, the range of steps that is
// shown, the scale and the smoothing, so that they can be compared at a glance.
import { button, el, kept, real, short, svg } from "./dom.js";
import { logTicks, nearest, scale, smooth, thin, ticks } from "./scale.js";

const HEIGHT = 280, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 38, COLOURS = 6;
const SHORTEST_DRAG = 6;   // pixels; less is a click

// ---- what charts are made of ----

// Of a long run only part of the losses are sent, with their steps.
export const curve = (run) => run.losses.map((y, i) => [run.loss_steps[i], real(y)]);
// Accuracy is absent if it is not among the metrics of a run.
export const evaluations = (evals, key) => evals.filter((e) => key in e).map((e) => [e.step, real(e[key])]);
export const colourOf = (i) => i % COLOURS;

export function histogram(param) {
  const W = 240, H = 70, most = Math.max(1, ...param.bins), width = W / param.bins.length;
  return svg("svg", { class: "chart small", viewBox: `0 0 ${W} ${H + 16}`, role: "img",
    "aria-label": `values of ${param.name} from ${short(param.min)} to ${short(param.max)}` }, [
    ...param.bins.map((n, i) => svg("rect", { class: "f0", x: i * width, width: Math.max(1, width - 1), y: H - n / most * H, height: n / most * H })),
    svg("text", { x: 0, y: H + 13 }, short(param.min, 3)),
    svg("text", { x: W, y: H + 13, "text-anchor": "end" }, short(param.max, 3))]);
}

// ---- one chart ----

// The points of a series that are drawn: finite, positive on a logarithmic scale, within the range.
function visible(points, { range, log }) {
  return points.filter(([x, y]) => Number.isFinite(y) && (!log || y > 0) && (!range || (x >= range[0] && x <= range[1])));
}

function bounds(lists, zero, log) {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const list of lists)
    for (const [x, y] of list) { x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y); }
  if (log) return [x0, x1, y0 === y1 ? y0 / 2 : y0 / 1.06, y0 === y1 ? y1 * 2 : y1 * 1.06];
  if (zero) y0 = Math.min(0, y0);
  if (y0 === y1) { y0 -= Math.abs(y0) / 10 || 0.5; y1 += Math.abs(y1) / 10 || 0.5; }
  const margin = (y1 - y0) * 0.04;
  return [x0, x1, zero && y0 >= 0 ? y0 : y0 - margin, y1 + margin];
}

class Chart {
  constructor(group, title, { zero = false, scalable = true } = {}) {
    Object.assign(this, { group, title, zero, scalable, series: [], width: 600, drag: null, late: false });
    this.box = el("div", { class: "plot" });
    this.readout = el("div", { class: "readout", hidden: true, "aria-hidden": "true" });
    this.legend = el("ul", { class: "legend" });
    this.empty = el("p", { class: "empty", hidden: true }, "nothing yet");
    this.element = el("figure", {}, [el("figcaption", {}, title), this.empty, this.box, this.legend]);
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width > 0 && width !== this.width) { this.width = width; this.draw(); }
    }).observe(this.box);
  }

  // [{name, points: [[step, value]], colour, smooth}]
  set(series) {
    this.series = series;
    this.draw();
  }

  // ---- drawing ----

  // Not during a drag, which would end if its element were replaced.
  draw() {
    this.late = this.drag !== null;
    if (this.late) return;
    const { shared } = this.group, log = shared.log && this.scalable;
    const lists = this.series.map((s) => visible(s.points, { range: shared.range, log }));
    this.lists = lists;
    const any = lists.some((list) => list.length > 0);
    this.empty.hidden = any;
    this.empty.textContent = shared.range ? "nothing in this range" : "nothing yet";
    this.box.hidden = !any;
    if (!any) return;
    let [x0, x1, y0, y1] = bounds(lists, this.zero && !log, log);
    if (shared.range) [x0, x1] = shared.range;
    if (x0 === x1) x1 = x0 + 1;
    this.X = scale(x0, x1, LEFT, this.width - RIGHT);
    this.Y = scale(y0, y1, HEIGHT - BOTTOM, TOP, log);
    this.steps = [x0, x1];
    const ends = this.series.map((s) => s.points.length ? `${s.name || this.title} ends at ${short(s.points.at(-1)[1])}` : "").join(", ");
    this.cursor = svg("g", { class: "cursor" });
    this.selection = svg("rect", { class: "selection", y: TOP, height: HEIGHT - TOP - BOTTOM, width: 0, visibility: "hidden" });
    const hadFocus = this.overlay !== undefined && document.activeElement === this.overlay;
    this.overlay = this.makeOverlay();
    this.box.replaceChildren(svg("svg", { class: "chart", width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}` }, [
      svg("title", {}, `${this.title}: ${ends}`), ...this.axes(x0, x1, y0, y1, log), ...this.curves(lists), this.selection, this.cursor, this.overlay]), this.readout);
    if (hadFocus) this.overlay.focus({ preventScroll: true });
    this.legend.replaceChildren(...this.series.filter((s) => s.name).map((s) => el("li", {}, [el("i", { class: `f${s.colour}` }), s.name])));
    this.point();
  }

  axes(x0, x1, y0, y1, log) {
    const { X, Y, width } = this, out = [];
    for (const y of log ? logTicks(y0, y1) : ticks(y0, y1, 5)) {
      out.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: Y(y), y2: Y(y) }),
        svg("text", { x: LEFT - 8, y: Y(y) + 4, "text-anchor": "end" }, short(y, 3)));
    }
    for (const x of ticks(x0, x1, Math.max(2, Math.floor(width / 110)))) {
      if (!Number.isInteger(x)) continue;
      const anchor = X(x) > width - RIGHT - 24 ? "end" : "middle";
      out.push(svg("text", { x: X(x), y: HEIGHT - BOTTOM + 18, "text-anchor": anchor }, x.toLocaleString()));
    }
    out.push(svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
      svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "step"));
    return out;
  }

  curves(lists) {
    const path = (list) => thin(list, this.width).map(([x, y], i) => `${i ? "L" : "M"}${this.X(x).toFixed(1)} ${this.Y(y).toFixed(1)}`).join("");
    const weight = this.group.shared.smooth;
    this.smoothed = lists.map((list, i) => this.series[i].smooth && weight > 0 ? smooth(list, weight) : null);
    return lists.flatMap((list, i) => {
      const s = this.series[i], out = [];
      if (this.smoothed[i]) out.push(svg("path", { class: `raw s${s.colour}`, d: path(list) }));
      out.push(svg("path", { class: `line s${s.colour}`, d: path(this.smoothed[i] ?? list) }));
      if (!s.smooth && list.length < 60)
        for (const [x, y] of list) out.push(svg("circle", { class: `f${s.colour}`, cx: this.X(x), cy: this.Y(y), r: 2.6 }));
      return out;
    });
  }

  // ---- the step under the pointer ----

  // The step under the pointer is one that this chart has.
  snap(step) {
    const list = this.lists.find((l) => l.length > 0);
    return list[nearest(list, step)][0];
  }
  values(step) {
    return this.lists.flatMap((list, i) => {
      if (list.length === 0) return [];
      const at = nearest(list, step), s = this.series[i];
      return [{ name: s.name || this.title, colour: s.colour, step: list[at][0], value: list[at][1], smoothed: this.smoothed[i]?.[at][1] }];
    });
  }
  // Shows the shared step, or nothing where there is none.
  point() {
    const { step } = this.group.shared;
    if (!this.cursor || this.box.hidden) return;
    const outside = step == null || step < this.steps[0] || step > this.steps[1];
    this.readout.hidden = outside;
    if (outside) return this.cursor.replaceChildren();
    const found = this.values(step), x = this.X(step);
    this.cursor.replaceChildren(svg("line", { class: "axis", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }),
      ...found.map((v) => svg("circle", { class: `f${v.colour}`, cx: this.X(v.step), cy: this.Y(v.value), r: 4 })));
    this.readout.replaceChildren(el("b", {}, `step ${step.toLocaleString()}`),
      ...found.map((v) => el("span", {}, [el("i", { class: `f${v.colour}` }), `${v.name} `, el("strong", {}, short(v.value)),
        v.step === step ? "" : ` at ${v.step.toLocaleString()}`, v.smoothed === undefined ? "" : ` (smooth ${short(v.smoothed)})`])));
    const right = x > this.width / 2;   // beside the line, on the side that has room
    this.readout.style.left = right ? "" : `${x + 10}px`;
    this.readout.style.right = right ? `${this.width - x + 10}px` : "";
    this.overlay.setAttribute("aria-valuenow", step);
    this.overlay.setAttribute("aria-valuetext", `step ${step}: ${found.map((v) => `${v.name} ${short(v.value)}`).join(", ")}`);
  }

  // ---- pointing, dragging, keys ----

  makeOverlay() {
    const overlay = svg("rect", { class: "overlay", x: LEFT, y: 0, width: Math.max(1, this.width - LEFT - RIGHT), height: HEIGHT - BOTTOM, tabindex: "0", role: "slider",
      "aria-label": `${this.title}: step`, "aria-valuemin": Math.round(this.steps[0]), "aria-valuemax": Math.round(this.steps[1]), "aria-valuenow": Math.round(this.steps[0]),
      "aria-keyshortcuts": "ArrowLeft ArrowRight Home End + - 0 Escape" });
    const at = (event) => event.clientX - this.box.getBoundingClientRect().left;
    overlay.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.drag = at(event);
      overlay.setPointerCapture(event.pointerId);
    });
    overlay.addEventListener("pointermove", (event) => {
      this.group.pointAt(this.snap(this.X.number(at(event))));
      if (this.drag !== null) this.select(this.drag, at(event));
    });
    overlay.addEventListener("pointerup", (event) => {
      if (this.drag === null) return;
      const [a, b] = [this.drag, at(event)].map((x) => this.X.number(Math.min(Math.max(x, LEFT), this.width - RIGHT)));
      const wide = Math.abs(at(event) - this.drag) >= SHORTEST_DRAG;
      if (!wide) this.group.pointAt(this.snap(this.X.number(at(event))));
      this.endDrag();
      if (wide) this.group.zoom([Math.min(a, b), Math.max(a, b)]);
    });
    overlay.addEventListener("pointercancel", () => this.endDrag());
    overlay.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && document.activeElement !== overlay) this.group.pointAt(null); });
    overlay.addEventListener("dblclick", () => this.group.zoom(null));
    overlay.addEventListener("keydown", (event) => this.key(event));
    return overlay;
  }
  select(a, b) {
    const [left, right] = [Math.max(LEFT, Math.min(a, b)), Math.min(this.width - RIGHT, Math.max(a, b))];
    this.selection.setAttribute("x", left);
    this.selection.setAttribute("width", Math.max(0, right - left));
    this.selection.setAttribute("visibility", "visible");
  }
  endDrag() {
    this.drag = null;
    this.selection.setAttribute("visibility", "hidden");
    if (this.late) this.draw();
  }
  key(event) {
    const list = this.lists.find((l) => l.length > 0), { shared } = this.group;
    const now = shared.step == null ? -1 : nearest(list, shared.step), big = Math.ceil(list.length / 10);
    const moves = { ArrowLeft: now - 1, ArrowRight: now + 1, PageDown: now - big, PageUp: now + big, Home: 0, End: list.length - 1 };
    const middle = shared.step ?? (this.steps[0] + this.steps[1]) / 2, half = (this.steps[1] - this.steps[0]) / 4;
    if (event.key in moves) this.group.pointAt(list[Math.min(Math.max(moves[event.key], 0), list.length - 1)][0]);
    else if (event.key === "+") this.group.zoom([middle - half, middle + half]);
    else if (event.key === "-") this.group.zoom(shared.range && [middle - 4 * half, middle + 4 * half]);
    else if (event.key === "0") this.group.zoom(null);
    else if (event.key === "Escape") this.group.pointAt(null);
    else return;
    event.preventDefault();
  }
}

// ---- charts that belong together ----

// `refine(range)` is called with the visible steps (null: all), to fetch more of their losses.
export class ChartGroup {
  constructor(refine = () => {}) {
    this.charts = [];
    this.refine = refine;
    this.shared = { step: null, range: null, log: kept.get("log", false), smooth: kept.get("smooth", 0.6) };
    this.element = el("div", { class: "charts" });
    this.controls = this.makeControls();
  }
  chart(title, options) {
    const chart = new Chart(this, title, options);
    this.charts.push(chart);
    this.element.append(chart.element);
    return chart;
  }
  draw() { for (const chart of this.charts) chart.draw(); }
  pointAt(step) {
    if (this.shared.step === step) return;
    this.shared.step = step;
    for (const chart of this.charts) chart.point();
  }
  // Whole steps, at least one apart, within the run.
  zoom(range) {
    const all = this.charts.flatMap((c) => c.series.flatMap((s) => s.points.length ? [s.points[0][0], s.points.at(-1)[0]] : []));
    const [first, last] = [Math.min(...all), Math.max(...all)];
    if (range) range = [Math.max(first, Math.floor(range[0])), Math.min(last, Math.ceil(range[1]))];
    if (range && (range[0] >= range[1] || (range[0] === first && range[1] === last))) range = null;
    this.shared.range = range;
    this.reset.hidden = !range;
    this.reset.textContent = range ? `Steps ${range[0].toLocaleString()} to ${range[1].toLocaleString()}: show all` : "";
    this.draw();
    this.refine(range);
  }
  makeControls() {
    const { shared } = this;
    const log = button("Log scale", () => {
      shared.log = !shared.log;
      kept.set("log", shared.log);
      log.setAttribute("aria-pressed", String(shared.log));
      this.draw();
    }, { "aria-pressed": String(shared.log) });
    const number = el("output", {}, shared.smooth.toFixed(2));
    const weight = el("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: shared.smooth, oninput: () => {
      shared.smooth = Number(weight.value);
      number.textContent = shared.smooth.toFixed(2);
      kept.set("smooth", shared.smooth);
      this.draw();
    } });
    this.reset = button("", () => this.zoom(null), { hidden: true });
    return el("div", { class: "bar controls" }, [log, el("label", {}, ["Smoothing", weight, number]), this.reset,
      el("span", { class: "faint hint" }, "Drag to zoom, double click to show all.")]);
  }
}
