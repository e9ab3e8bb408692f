// Curves and histograms.
import { add, el, real, short, svg } from "./dom.js";

// Round numbers that divide a range into about `count` parts.
function ticks(low, high, count) {
  const span = high - low || Math.abs(high) || 1, rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

// At most two points for each pixel: the lowest and the highest of its steps.
export function thin(points, most) {
  if (points.length <= most * 2) return points;
  const out = [], size = points.length / most;
  for (let i = 0; i < most; i++) {
    let low = null, high = null;
    for (const p of points.slice(Math.floor(i * size), Math.floor((i + 1) * size))) {
      if (!low || p[1] < low[1]) low = p;
      if (!high || p[1] > high[1]) high = p;
    }
    if (low) out.push(...(low[0] <= high[0] ? [low, high] : [high, low]));
  }
  return out;
}

// A running mean over about a fiftieth of the curve.
function smooth(points) {
  const width = Math.max(1, Math.round(points.length / 50));
  if (width === 1) return points;
  const out = [];
  let sum = 0;
  points.forEach(([x, y], i) => {
    sum += y;
    if (i >= width) sum -= points[i - width][1];
    out.push([x, sum / Math.min(i + 1, width)]);
  });
  return out;
}

// series: [{name, points: [[step, value]], colour, raw}]
export function chart(title, series, { zero = false } = {}) {
  const W = 640, H = 300, left = 58, right = 14, top = 12, bottom = 38;
  const all = series.flatMap((s) => s.points).filter((p) => Number.isFinite(p[1]));
  const figure = el("figure", {}, el("figcaption", {}, title));
  if (all.length === 0) return add(figure, {}, el("p", { class: "empty" }, "nothing yet"));
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of all) { x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y); }
  if (zero) y0 = Math.min(0, y0);
  if (y0 === y1) { y0 -= Math.abs(y0) / 10 || 0.5; y1 += Math.abs(y1) / 10 || 0.5; }
  if (x0 === x1) x1 = x0 + 1;
  const margin = (y1 - y0) * 0.04;
  y1 += margin; if (!zero || y0 < 0) y0 -= margin;
  const X = (x) => left + (x - x0) / (x1 - x0) * (W - left - right);
  const Y = (y) => top + (y1 - y) / (y1 - y0) * (H - top - bottom);
  const ends = series.map((s) => s.points.length ? `${s.name} ends at ${short(s.points.at(-1)[1])}` : "").join(", ");
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}: ${ends}` });
  for (const y of ticks(y0, y1, 5)) {
    picture.append(svg("line", { class: "grid", x1: left, x2: W - right, y1: Y(y), y2: Y(y) }),
      svg("text", { x: left - 8, y: Y(y) + 4, "text-anchor": "end" }, short(y, 3)));
  }
  for (const x of ticks(x0, x1, 6)) {
    if (!Number.isInteger(x)) continue;
    picture.append(svg("text", { x: X(x), y: H - bottom + 18, "text-anchor": "middle" }, x.toLocaleString()));
  }
  picture.append(svg("line", { class: "axis", x1: left, x2: W - right, y1: H - bottom, y2: H - bottom }),
    svg("text", { x: (left + W - right) / 2, y: H - 4, "text-anchor": "middle" }, "step"));
  for (const s of series) {
    const points = s.points.filter((p) => Number.isFinite(p[1]));
    const path = (list) => list.map(([x, y], i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("");
    const line = s.smooth ? smooth(points) : points;
    if (s.smooth && line !== points) picture.append(svg("path", { class: `raw s${s.colour}`, d: path(thin(points, W)) }));
    picture.append(svg("path", { class: `s${s.colour}`, d: path(thin(line, W)) }));
    if (!s.smooth && points.length < 60)
      for (const [x, y] of points) picture.append(svg("circle", { class: `f${s.colour}`, cx: X(x), cy: Y(y), r: 2.6 }));
  }
  figure.append(picture);
  if (series.length > 1 || series[0].name)
    figure.append(el("ul", { class: "legend" }, series.map((s) => el("li", {}, [el("i", { class: `f${s.colour}` }), s.name]))));
  return figure;
}

export function histogram(param) {
  const W = 240, H = 70, most = Math.max(1, ...param.bins), width = W / param.bins.length;
  return svg("svg", { class: "chart", viewBox: `0 0 ${W} ${H + 16}`, role: "img",
    "aria-label": `values of ${param.name} from ${short(param.min)} to ${short(param.max)}` }, [
    ...param.bins.map((n, i) => svg("rect", { class: "f0", x: i * width, width: Math.max(1, width - 1), y: H - n / most * H, height: n / most * H })),
    svg("text", { x: 0, y: H + 13 }, short(param.min, 3)),
    svg("text", { x: W, y: H + 13, "text-anchor": "end" }, short(param.max, 3))]);
}

// A long run comes as a part of its losses, with the steps they belong to.
export const curve = (run) => run.losses.map((y, i) => [run.loss_steps[i], real(y)]);
export const MOST_POINTS = 8192;   // of a run that is followed for long
// An accuracy that is not among the metrics of a run is not there.
export const evaluations = (evals, key) => evals.filter((e) => key in e).map((e) => [e.step, real(e[key])]);
