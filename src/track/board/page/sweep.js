// Runs of a sweep, or any runs of the list: every run as a line through its hyperparameters, and as a point
// over one of them. The board says which of them vary, and which run is best.
import { el, get, hyper, last, plural, real, say, short, show, svg } from "./dom.js";
import { logTicks, scale, ticks } from "./scale.js";

const metrics = [["loss", "loss"], ["eval_loss", "evaluation loss"], ["accuracy", "accuracy"], ["seconds", "time in seconds"]];
const TOP = 34, BOTTOM = 22, HEIGHT = 320, SIDE = 46, NARROWEST = 96;
const LOG_FROM = 50;   // times the lowest value: then the scale is logarithmic

// ---- one axis ----

const isNumber = (value) => typeof value === "number" || (typeof value === "string" && value !== "" && Number.isFinite(Number(value)));

// Numbers have a scale; texts have a place each, in the order of the alphabet.
function axis(name, title, values, from, to) {
  const known = values.filter((v) => v != null);
  if (known.every(isNumber)) {
    const numbers = known.map(Number), low = Math.min(...numbers), high = Math.max(...numbers);
    const log = low > 0 && high / low > LOG_FROM, wide = low === high ? Math.abs(low) / 10 || 1 : 0;
    const place = scale(low - wide, high + wide, from, to, log);
    const marks = (log ? logTicks(low, high) : ticks(low - wide, high + wide, 4)).map((t) => [place(t), short(t, 3)]);
    return { name, title, marks, place: (v) => place(Number(v)) };
  }
  const words = [...new Set(known.map(String))].sort(), step = (to - from) / (words.length + 1);
  return { name, title, marks: words.map((w, i) => [from + (i + 1) * step, w]), place: (v) => from + (words.indexOf(String(v)) + 1) * step };
}

// Marks whose words would touch are left out.
function apart(marks) {
  const out = [];
  for (const [at, text] of marks) if (out.length === 0 || at - out.at(-1)[0] > 7 * text.length + 12) out.push([at, text]);
  return out;
}

export async function sweep(signal, words = "") {
  const wish = { words: decodeURIComponent(words) };
  let metric = "", runs = [], names = [], marked = null;
  const value = (run, name) => name === "seed" ? run.seed : metrics.some(([m]) => m === name) ? (Number.isFinite(real(run[name])) ? run[name] : null) : hyper(run, name);

  // ---- what is chosen ----

  const choose = (label, options, onchange) => {
    const field = el("select", { onchange: () => onchange(field.value) }, options.map(([v, t]) => el("option", { value: v }, t)));
    return { field, element: el("label", {}, [label, field]) };
  };
  const byMetric = choose("Metric", [], (name) => { metric = name; load(); });
  const across = choose("Across", [], () => draw());
  const lines = el("div", { class: "scroll" }), points = el("div"), best = el("p", { id: "best" }), told = el("p", { class: "faint", id: "told" });

  // ---- drawing ----

  // Green is best, red is worst; the order is the board's.
  const colour = (rank) => `color-mix(in oklab, var(--bad) ${Math.round(100 * rank / Math.max(1, runs.length - 1))}%, var(--good))`;
  const written = (v) => v == null ? "–" : isNumber(v) ? short(Number(v)) : String(v);
  const describe = (run) => `run ${run.id}: ${[...names, metric].map((name) => `${name} ${written(value(run, name))}`).join(", ")}`;
  function mark(run) {
    marked = run;
    for (const shape of document.querySelectorAll("[data-run]")) shape.classList.toggle("marked", shape.dataset.run === String(run?.id));
    told.textContent = run ? describe(run) : "Point at a run, or reach it with the tab key; Enter opens it.";
  }
  function shape(tag, run, rank, attributes) {
    const open = () => { location.hash = `#/run/${run.id}`; };
    const out = svg(tag, { ...attributes, class: `run ${attributes.class}`, "data-run": run.id, tabindex: "0", role: "link", "aria-label": describe(run),
      onpointerenter: () => mark(run), onpointerleave: () => mark(null), onfocus: () => mark(run), onblur: () => mark(null), onclick: open,
      onkeydown: (event) => { if (event.key === "Enter") open(); } });
    out.style.setProperty("--run", colour(rank));
    return out;
  }
  function drawLines() {
    const width = Math.max(lines.clientWidth || 600, NARROWEST * (names.length + 1) + 2 * SIDE);
    const axes = [...names, metric].map((name) => axis(name, name === metric ? metrics.find(([m]) => m === name)[1] : name, runs.map((run) => value(run, name)), HEIGHT - BOTTOM, TOP));
    const X = (i) => SIDE + i * (width - 2 * SIDE) / Math.max(1, axes.length - 1);
    const through = (run) => axes.map((a, i) => [X(i), value(run, a.name), a]).filter(([, v]) => v != null)
      .map(([x, v, a], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${a.place(v).toFixed(1)}`).join("");
    lines.replaceChildren(svg("svg", { class: "chart parallel", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": "runs as lines through their hyperparameters" }, [
      ...runs.map((run, rank) => shape("path", run, rank, { class: "through", d: through(run) })).reverse(),   // the best on top
      ...axes.flatMap((a, i) => [svg("line", { class: "axis", x1: X(i), x2: X(i), y1: TOP, y2: HEIGHT - BOTTOM }),
        svg("text", { class: "name", x: X(i), y: 16, "text-anchor": i === 0 ? "start" : i === axes.length - 1 ? "end" : "middle", dx: i === 0 ? -SIDE + 8 : i === axes.length - 1 ? SIDE - 8 : 0 }, a.title),
        ...a.marks.flatMap(([y, text]) => [svg("line", { class: "axis", x1: X(i) - 4, x2: X(i), y1: y, y2: y }), svg("text", { class: "mark", x: X(i) - 7, y: y + 4, "text-anchor": "end" }, text)])])]));
  }
  function drawPoints() {
    const width = points.clientWidth || 600, name = across.field.value, LEFT = 58, RIGHT = 16;
    const shown = runs.map((run, rank) => ({ run, rank, x: value(run, name), y: value(run, metric) })).filter((p) => p.x != null && p.y != null);
    const x = axis(name, name, runs.map((run) => value(run, name)), LEFT + 12, width - RIGHT - 12), y = axis(metric, metric, shown.map((p) => p.y), HEIGHT - 40, 12);
    points.replaceChildren(svg("svg", { class: "chart scatter", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": `${metric} over ${name}` }, [
      ...y.marks.flatMap(([at, text]) => [svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: at, y2: at }), svg("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, text)]),
      ...apart(x.marks).map(([at, text]) => svg("text", { x: at, y: HEIGHT - 22, "text-anchor": "middle" }, text)),
      svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: HEIGHT - 40, y2: HEIGHT - 40 }),
      svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, name),
      ...shown.map((p) => shape("circle", p.run, p.rank, { class: "point", cx: x.place(p.x).toFixed(1), cy: y.place(p.y).toFixed(1), r: 6 })).reverse()]));
  }
  function draw() {
    drawLines();
    drawPoints();
    mark(marked);
  }

  // ---- asking ----

  const fill = (field, options, wanted) => {
    field.replaceChildren(...options.map(([v, t]) => el("option", { value: v }, t)));
    field.value = options.some(([v]) => v === wanted) ? wanted : options[0]?.[0];
  };
  // The board puts the best first.
  async function load() {
    let answer = await get(`/api/runs?${new URLSearchParams({ ...wish, order: metric || "loss" })}`, signal);
    const offered = metrics.filter(([m]) => answer.runs.some((run) => value(run, m) != null));
    if (!metric) {
      metric = (offered.find(([m]) => m === "eval_loss") ?? offered[0] ?? metrics[0])[0];
      if (metric !== "loss") answer = await get(`/api/runs?${new URLSearchParams({ ...wish, order: metric })}`, signal);
    }
    runs = answer.runs;
    names = [...answer.varying, ...(new Set(runs.map((run) => run.seed)).size > 1 ? ["seed"] : [])];
    say(`${plural(runs.length, "run")} over ${plural(names.length, "hyperparameter")}`);
    if (runs.length < 2 || names.length === 0) {
      show(el("h2", {}, "Sweep"), el("p", { class: "empty" }, "Fewer than two of these runs, or none that differ in a hyperparameter. A sweep makes such runs:"),
        el("pre", {}, "tern train model.ail --allow fileread --sweep lr=0.1,0.01 --sweep seed=1..3 --out sweep"), el("p", {}, el("a", { href: "#/" }, "All runs")));
      return;
    }
    fill(byMetric.field, offered, metric);
    fill(across.field, names.map((n) => [n, n]), across.field.value);
    best.replaceChildren("Best: ", el("a", { href: `#/run/${runs[0].id}` }, `run ${runs[0].id}`), ` (${last(runs[0].program)}), ${describe(runs[0]).replace(/^run \d+: /, "")}`);
    if (!lines.isConnected)
      show(el("h2", {}, `Sweep over ${plural(runs.length, "run")}`), el("div", { class: "bar" }, [byMetric.element, across.element]), best,
        el("div", { class: "charts" }, [el("figure", { class: "whole" }, [el("figcaption", {}, "Every run, from hyperparameters to metric"), lines]), el("figure", { class: "whole" }, [el("figcaption", {}, "One hyperparameter"), points])]), told);
    draw();
  }
  await load();
  const redraw = () => { if (lines.isConnected) draw(); };
  addEventListener("resize", redraw, { signal });
}
