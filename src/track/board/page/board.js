// The board: a list of runs, one run, a comparison. The address after # says which, so that the
// browser's own buttons work. Text from the outside reaches the page as text, never as markup.

const main = document.getElementById("main");
const live = document.getElementById("live");
const SVG = "http://www.w3.org/2000/svg";
let leave = () => {};   // ends what the current view keeps open

// ---- elements ----

function add(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of [children ?? []].flat()) element.append(child);
  return element;
}
const el = (tag, attributes, children) => add(document.createElement(tag), attributes, children);
const svg = (tag, attributes, children) => add(document.createElementNS(SVG, tag), attributes, children);
const show = (...children) => main.replaceChildren(...children);

async function get(path) {
  const response = await fetch(path);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.reason ?? response.statusText);
  return answer;
}

// ---- how things are written ----

const real = (x) => typeof x === "number" ? x : x === "Infinity" ? Infinity : x === "-Infinity" ? -Infinity : NaN;
const short = (x, digits = 4) => x == null ? "–" : Number.isFinite(real(x)) ? String(Number(real(x).toPrecision(digits))) : String(x);
const fixed = (x) => x == null ? "–" : real(x).toFixed(4);
const last = (path) => String(path ?? "").split("/").pop();
const when = (iso) => iso ? new Date(iso).toLocaleString() : "–";
function duration(seconds) {
  if (seconds == null) return "–";
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
const status = (run) => el("span", { class: `status ${run.status}` }, run.status);

// ---- charts ----

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
function thin(points, most) {
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
function chart(title, series, { zero = false } = {}) {
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

function histogram(param) {
  const W = 240, H = 70, most = Math.max(1, ...param.bins), width = W / param.bins.length;
  return svg("svg", { class: "chart", viewBox: `0 0 ${W} ${H + 16}`, role: "img",
    "aria-label": `values of ${param.name} from ${short(param.min)} to ${short(param.max)}` }, [
    ...param.bins.map((n, i) => svg("rect", { class: "f0", x: i * width, width: Math.max(1, width - 1), y: H - n / most * H, height: n / most * H })),
    svg("text", { x: 0, y: H + 13 }, short(param.min, 3)),
    svg("text", { x: W, y: H + 13, "text-anchor": "end" }, short(param.max, 3))]);
}

// A long run comes as a part of its losses, with the steps they belong to.
const curve = (run) => run.losses.map((y, i) => [run.loss_steps[i], real(y)]);
const MOST_POINTS = 8192;   // of a run that is followed for long
// An accuracy that is not among the metrics of a run is not there.
const evaluations = (evals, key) => evals.filter((e) => key in e).map((e) => [e.step, real(e[key])]);

// ---- hyperparameters ----

const hyper = (run, name) => Object.hasOwn(run.hyperparameters ?? {}, name) ? run.hyperparameters[name] : undefined;
// The names of those in which runs that have them differ.
function varying(runs) {
  const values = new Map();
  for (const run of runs)
    for (const [name, value] of Object.entries(run.hyperparameters ?? {})) values.set(name, (values.get(name) ?? new Set()).add(value));
  return [...values].filter(([, seen]) => seen.size > 1).map(([name]) => name);
}
const MOST_HYPERS = 12;   // columns of the list

// ---- the list ----

const fixedColumns = [
  ["run", (r) => r.id, true], ["started", (r) => r.started], ["program", (r) => last(r.program)], ["status", (r) => r.status],
  ["steps", (r) => r.step ?? 0, true], ["loss", (r) => r.loss, true], ["accuracy", (r) => r.accuracy, true],
  ["time", (r) => r.seconds, true], ["seed", (r) => Number(r.seed), true], ["weights", (r) => r.weights_sha256],
];

async function list() {
  let runs = [], order = "run", down = true, words = "", hypers = [], columns = [], heads = [];
  const chosen = new Set();
  const compare = el("a", { class: "button", "aria-disabled": "true" }, "Compare");
  const search = el("input", { type: "search", placeholder: "Filter: program, status, lr=0.1 …", "aria-label": "Filter the runs",
    oninput: () => { words = search.value.toLowerCase(); draw(); } });
  const body = el("tbody");
  const headRow = el("tr"), table = el("table", {}, [el("thead", {}, headRow), body]);

  // The columns that all runs have, and before the last of them the hyperparameters in which they differ.
  function layOut() {
    const names = varying(runs).slice(0, MOST_HYPERS);
    if (columns.length > 0 && names.join() === hypers.join()) return;
    hypers = names;
    columns = [...fixedColumns.slice(0, -1), ...hypers.map((name) => [name, (r) => hyper(r, name), true]), ...fixedColumns.slice(-1)];
    heads = columns.map(([name, , right]) => el("th", { class: right && "right", scope: "col" },
      el("button", { type: "button", onclick: () => { down = order === name ? !down : true; order = name; draw(); } }, name)));
    headRow.replaceChildren(el("th", { scope: "col" }, "choose"), ...heads);
  }

  function choose(id, on) {
    if (on) chosen.add(id); else chosen.delete(id);
    const ready = chosen.size >= 2;
    compare.setAttribute("aria-disabled", String(!ready));
    if (ready) compare.href = `#/compare/${[...chosen].join(",")}`; else compare.removeAttribute("href");
    compare.textContent = ready ? `Compare ${chosen.size} runs` : "Compare: choose two or more";
  }
  function row(run) {
    const box = el("input", { type: "checkbox", "aria-label": `choose run ${run.id}`, onchange: () => choose(run.id, box.checked) });
    box.checked = chosen.has(run.id);
    return el("tr", {}, [el("td", {}, box),
      el("td", { class: "right" }, el("a", { href: `#/run/${run.id}` }, String(run.id))), el("td", {}, when(run.started)),
      el("td", {}, last(run.program)), el("td", {}, status(run)),
      el("td", { class: "right" }, `${run.step ?? 0} / ${run.steps}`), el("td", { class: "right" }, short(run.loss)),
      el("td", { class: "right" }, fixed(run.accuracy)), el("td", { class: "right" }, duration(run.seconds)),
      el("td", { class: "right" }, run.seed), ...hypers.map((name) => el("td", { class: "right" }, String(hyper(run, name) ?? "–"))),
      el("td", { class: "hash" }, run.weights_sha256?.slice(0, 8) ?? "–")]);
  }
  function draw() {
    const key = (columns.find(([name]) => name === order) ?? columns[0])[1];
    const pairs = (r) => Object.entries(r.hyperparameters ?? {}).map(([name, value]) => `${name}=${value}`);
    const fits = (r) => [last(r.program), r.status, r.seed, String(r.id), r.folder, ...pairs(r)].join(" ").toLowerCase().includes(words);
    const sorted = runs.filter(fits).sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const way = x == null ? 1 : y == null ? -1 : x < y ? -1 : x > y ? 1 : 0;
      return x == null || y == null ? way : down ? -way : way;
    });
    heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i][0] !== order ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...sorted.map(row));
  }
  async function refresh() {
    const answer = await get("/api/runs");
    runs = answer.runs;
    layOut();
    const running = runs.filter((r) => r.status === "running").length;
    live.textContent = `${answer.more ? "the newest " : ""}${runs.length} run${runs.length === 1 ? "" : "s"}${running ? `, ${running} running` : ""}`;
    if (runs.length === 0) return show(el("h2", {}, "Runs"), el("p", { class: "empty" },
      ["No runs yet. A training with a folder is recorded: ", el("code", {}, "tern train model.ail --out runs/1")]));
    if (!table.isConnected) show(el("h2", {}, "Runs"), el("div", { class: "bar" }, [search, compare]), el("div", { class: "scroll" }, table));
    draw();
  }
  choose(0, false);
  await refresh();
  const timer = setInterval(() => refresh().catch(() => {}), 2000);
  return () => clearInterval(timer);
}

// ---- one run ----

const card = (name, value) => el("div", { class: "card" }, [el("dt", {}, name), el("dd", {}, value ?? "–")]);

async function one(id) {
  const { run } = await get(`/api/runs/${id}`);
  const evals = run.evals;
  let points = curve(run), recorded = run.recorded;
  const cards = el("dl", { class: "cards" }), charts = el("div", { class: "charts" });
  const params = el("div", { class: "params" });
  function draw() {
    cards.replaceChildren(card("status", status(run)), card("steps", `${recorded} / ${run.steps}`),
      card("loss", points.length ? short(points.at(-1)[1]) : "–"), card("accuracy", fixed(evals.at(-1)?.accuracy)), card("time", duration(run.seconds)),
      card("seed", run.seed), card("threads", String(run.threads)), ...(run.ranks > 1 ? [card("ranks", String(run.ranks))] : []), card("kernels", run.backend),
      ...Object.entries(run.hyperparameters ?? {}).map(([name, value]) => card(name, String(value))), card("started", when(run.started)),
      card("data", run.data), card("folder", run.folder),
      card("weights", el("span", { class: "number" }, run.weights_sha256?.slice(0, 16) ?? "–")));
    const curves = [{ name: "training", points, colour: 0, smooth: true }];
    if (evals.length) curves.push({ name: "evaluation", points: evaluations(evals, "loss"), colour: 1 });
    const accuracy = evaluations(evals, "accuracy");
    charts.replaceChildren(chart("Loss", curves),
      ...(accuracy.length ? [chart("Accuracy", [{ name: "", points: accuracy, colour: 3 }], { zero: true })] : []));
    live.textContent = `run ${id}: ${run.status}, step ${recorded} of ${run.steps}`;
  }
  async function drawParams() {
    try {
      const answer = await get(`/api/runs/${id}/params`);
      params.replaceChildren(...answer.params.map((p) => el("figure", {}, [el("h4", {}, p.name),
        el("p", {}, `[${p.shape.join(", ")}], mean ${short(p.mean, 3)}, deviation ${short(p.deviation, 3)}` +
          (p.finite < p.count ? `, ${p.count - p.finite} not finite` : "")), histogram(p)])),
        ...(answer.omitted ? [el("p", { class: "empty" }, `and ${answer.omitted} more`)] : []));
    } catch (error) {
      params.replaceChildren(el("p", { class: "empty" }, error.message));
    }
  }
  const picture = el("img", { src: `/api/runs/${id}/graph`, alt: `the graph of ${last(run.program)}, with the shape of every value` });
  const graph = el("div", { class: "graph" }, picture);
  picture.addEventListener("error", () => graph.replaceChildren("the graph of this program cannot be drawn"));
  show(el("h2", {}, `Run ${id}: ${last(run.program)}`), cards, charts,
    el("h3", {}, "Graph"), graph,
    el("h3", {}, "Parameters"), params,
    el("h3", {}, "Program"), el("pre", { tabindex: "0", "aria-label": "the program's text" }, run.source));
  draw();
  drawParams();
  if (run.status !== "running") return () => {};
  const events = new EventSource(`/api/runs/${id}/events`);
  events.onmessage = (message) => {
    const news = JSON.parse(message.data);
    points = points.filter(([step]) => step < news.first).concat(curve(news));
    if (points.length > MOST_POINTS) points = thin(points, MOST_POINTS / 4);
    recorded = news.recorded;
    while (evals.length && evals.at(-1).step >= (news.evals[0]?.step ?? Infinity)) evals.pop();
    evals.push(...news.evals);
    Object.assign(run, { status: news.status, steps: news.steps, seconds: news.seconds });
    draw();
    if (news.status === "running") return;
    events.close();
    get(`/api/runs/${id}`).then((answer) => { run.weights_sha256 = answer.run.weights_sha256; draw(); }).catch(() => {});
    drawParams();
  };
  return () => events.close();
}

// ---- several runs ----

const compared = ["program", "status", "step", "steps", "loss", "eval_loss", "accuracy", "seconds", "seed", "given", "source_sha256",
  "data_sha256", "weights_sha256", "threads", "ranks", "backend", "version", "data", "folder"];

async function compare(ids) {
  const runs = await Promise.all(ids.map(async (id) => (await get(`/api/runs/${id}`)).run));
  const name = (run) => `run ${run.id} (${last(run.program)}, seed ${run.seed})`;
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.hyperparameters ?? {})))];
  const rows = [...compared.map((key) => [key, (run) => run[key]]), ...names.map((name) => [name, (run) => hyper(run, name)])]
    .filter(([, value]) => runs.some((run) => value(run) !== value(runs[0])));
  const hash = (key, value) => key.endsWith("sha256") && value ? value.slice(0, 16) : String(value ?? "–");
  const different = await Promise.all(ids.slice(1).map(async (id) => (await get(`/api/runs/${ids[0]}/compare/${id}`)).first_different_step));
  const first = Math.min(...different.map((step) => step ?? Infinity));
  const weights = new Set(runs.map((run) => run.weights_sha256));
  const bits = weights.has(null) ? "A run has not ended: its weights are not known yet."
    : weights.size === 1 ? "The weights agree in every bit." : "The weights differ.";
  const steps = first === Infinity ? "The losses agree in every bit over the steps they share."
    : `The losses differ from step ${first} on.`;
  live.textContent = `comparing ${runs.length} runs`;
  show(el("h2", {}, `Comparison of ${runs.length} runs`), el("p", { id: "verdict" }, `${steps} ${bits}`),
    el("div", { class: "charts" }, [
      chart("Loss", runs.map((run, i) => ({ name: name(run), points: curve(run), colour: i % 6, smooth: true }))),
      chart("Evaluation loss", runs.map((run, i) => ({ name: name(run), points: evaluations(run.evals, "loss"), colour: i % 6 }))),
      chart("Accuracy", runs.map((run, i) => ({ name: name(run), points: evaluations(run.evals, "accuracy"), colour: i % 6 })), { zero: true })]),
    el("h3", {}, "What differs"),
    rows.length === 0 ? el("p", {}, "Nothing.") : el("div", { class: "scroll" }, el("table", {}, [
      el("thead", {}, el("tr", {}, [el("th", { scope: "col" }, ""), ...runs.map((run) => el("th", { scope: "col" }, el("a", { href: `#/run/${run.id}` }, name(run))))])),
      el("tbody", {}, rows.map(([key, value]) => el("tr", {}, [el("th", { scope: "row" }, key), ...runs.map((run) => el("td", { class: "number" }, hash(key, value(run))))])))])));
  return () => {};
}

// ---- addresses ----

async function open() {
  leave();
  leave = () => {};
  const [, view, rest] = location.hash.split("/");
  try {
    const opened = view === "run" && /^\d+$/.test(rest) ? one(Number(rest))
      : view === "compare" && /^\d+(,\d+)+$/.test(rest) ? compare(rest.split(",").map(Number)) : list();
    leave = await opened;
  } catch (error) {
    show(el("p", { class: "error", role: "alert" }, `This cannot be shown: ${error.message}`), el("p", {}, el("a", { href: "#/" }, "All runs")));
  }
}
addEventListener("hashchange", () => { open(); main.focus(); });
open();
