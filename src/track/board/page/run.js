// One run, followed while it trains.
import { ChartGroup, curve, evaluations, histogram } from "./charts.js";
import { button, duration, el, fixed, get, last, say, short, show, status, when } from "./dom.js";
import { evaluation } from "./evaluation.js";
import { graph } from "./graph.js";
import { forget, remarks } from "./remarks.js";
import { thin } from "./scale.js";
import { source } from "./source.js";

const MOST_POINTS = 8192;   // of a run that is followed for long

const card = (name, value) => el("div", { class: "card" }, [el("dt", {}, name), el("dd", {}, value ?? "–")]);

export async function one(signal, id) {
  const { run } = await get(`/api/runs/${id}`, signal);
  const evals = run.evals;
  let points = curve(run), recorded = run.recorded;
  const cards = el("dl", { class: "cards" });
  let fine = null;   // all losses of the range that is looked at, where `points` are a part of them
  const group = new ChartGroup(async (range) => {
    fine = null;
    if (!range || points.length >= recorded) return;
    const part = await get(`/api/runs/${id}/curve?from=${range[0]}&to=${range[1]}`, signal);
    if (group.shared.range !== range) return;
    fine = curve(part);
    draw();
  });
  const lossChart = group.chart("Loss"), accuracyChart = group.chart("Accuracy", { zero: true, scalable: false });
  const params = el("div", { class: "params" }), judged = el("section", { class: "judged" });
  function draw() {
    cards.replaceChildren(card("status", status(run)), card("steps", `${recorded} / ${run.steps}`),
      card("loss", points.length ? short(points.at(-1)[1]) : "–"), card("accuracy", fixed(evals.at(-1)?.accuracy)), card("time", duration(run.seconds)),
      card("seed", run.seed), card("threads", String(run.threads)), ...(run.ranks > 1 ? [card("ranks", String(run.ranks))] : []), card("device", run.device ?? "cpu"), card("kernels", run.backend),
      ...Object.entries(run.hyperparameters ?? {}).map(([name, value]) => card(name, String(value))), card("started", when(run.started)),
      card("data", run.data), card("folder", run.folder),
      card("weights", el("span", { class: "number" }, run.weights_sha256?.slice(0, 16) ?? "–")));
    const shown = fine ? [...points.filter(([x]) => x < fine[0]?.[0]), ...fine, ...points.filter(([x]) => x > fine.at(-1)?.[0])] : points;
    const curves = [{ name: "training", points: shown, colour: 0, smooth: true }];
    if (evals.length) curves.push({ name: "evaluation", points: evaluations(evals, "loss"), colour: 1 });
    const accuracy = evaluations(evals, "accuracy");
    lossChart.set(curves);
    accuracyChart.element.hidden = accuracy.length === 0;
    accuracyChart.set([{ name: "", points: accuracy, colour: 3 }]);
    remove.disabled = run.status === "running";
    say(`run ${id}: ${run.status}, step ${recorded} of ${run.steps}`);
  }
  async function drawParams() {
    try {
      const answer = await get(`/api/runs/${id}/params`, signal);
      params.replaceChildren(...answer.params.map((p) => el("figure", {}, [el("h4", {}, p.name),
        el("p", {}, `[${p.shape.join(", ")}], mean ${short(p.mean, 3)}, deviation ${short(p.deviation, 3)}` +
          (p.finite < p.count ? `, ${p.count - p.finite} not finite` : "")), histogram(p)])),
        ...(answer.omitted ? [el("p", { class: "empty" }, `and ${answer.omitted} more`)] : []));
    } catch (error) {
      params.replaceChildren(el("p", { class: "empty" }, error.message));
    }
  }
  const text = source(run.source ?? "", (line) => model.mark(line));
  const model = graph(id, signal, (line) => text.line(line));
  const remove = button("Delete …", () => forget([run], () => { location.hash = "#/"; }), { class: "button bad" });
  show(el("div", { class: "bar head" }, [el("h2", {}, `Run ${id}: ${last(run.program)}`), remove]), cards, remarks(run), group.controls, group.element, judged,
    el("h3", {}, "Graph"), model.element,
    el("h3", {}, "Parameters"), params,
    el("h3", {}, "Program"), text.element);
  draw();
  drawParams();
  evaluation(run, signal).then((parts) => judged.replaceChildren(...parts));
  if (run.status !== "running") return;
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
    get(`/api/runs/${id}`, signal).then((answer) => { run.weights_sha256 = answer.run.weights_sha256; draw(); }).catch(() => {});
    drawParams();
  };
  signal.addEventListener("abort", () => events.close());
}
