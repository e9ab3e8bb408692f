// Several runs side by side.
import { ChartGroup, colourOf, curve, evaluations } from "./charts.js";
import { el, get, hyper, hyperNames, last, say, show } from "./dom.js";

const compared = ["program", "status", "step", "steps", "loss", "eval_loss", "accuracy", "seconds", "seed", "given", "source_sha256",
  "data_sha256", "weights_sha256", "threads", "ranks", "backend", "version", "data", "folder"];

export async function compare(signal, ids) {
  const runs = await Promise.all(ids.map(async (id) => (await get(`/api/runs/${id}`, signal)).run));
  const name = (run) => `run ${run.id} (${last(run.program)}, seed ${run.seed})`;
  const names = hyperNames(runs);
  const rows = [...compared.map((key) => [key, (run) => run[key]]), ...names.map((name) => [name, (run) => hyper(run, name)])]
    .filter(([, value]) => runs.some((run) => value(run) !== value(runs[0])));
  const hash = (key, value) => key.endsWith("sha256") && value ? value.slice(0, 16) : String(value ?? "–");
  const different = await Promise.all(ids.slice(1).map(async (id) => (await get(`/api/runs/${ids[0]}/compare/${id}`, signal)).first_different_step));
  const first = Math.min(...different.map((step) => step ?? Infinity));
  const weights = new Set(runs.map((run) => run.weights_sha256));
  const bits = weights.has(null) ? "A run has not ended: its weights are not known yet."
    : weights.size === 1 ? "The weights agree in every bit." : "The weights differ.";
  const steps = first === Infinity ? "The losses agree in every bit over the steps they share."
    : `The losses differ from step ${first} on.`;
  const group = new ChartGroup();
  const draw = (title, points, options) =>
    group.chart(title, options).set(runs.map((run, i) => ({ name: name(run), points: points(run), colour: colourOf(i), smooth: title === "Loss" })));
  draw("Loss", curve);
  draw("Evaluation loss", (run) => evaluations(run.evals, "loss"));
  draw("Accuracy", (run) => evaluations(run.evals, "accuracy"), { zero: true, scalable: false });
  say(`comparing ${runs.length} runs`);
  show(el("h2", {}, `Comparison of ${runs.length} runs`), el("p", { id: "verdict" }, `${steps} ${bits}`),
    group.controls, group.element,
    el("h3", {}, "What differs"),
    rows.length === 0 ? el("p", {}, "Nothing.") : el("div", { class: "scroll" }, el("table", {}, [
      el("thead", {}, el("tr", {}, [el("th", { scope: "col" }, ""), ...runs.map((run) => el("th", { scope: "col" }, el("a", { href: `#/run/${run.id}` }, name(run))))])),
      el("tbody", {}, rows.map(([key, value]) => el("tr", {}, [el("th", { scope: "row" }, key), ...runs.map((run) => el("td", { class: "number" }, hash(key, value(run))))])))])));
}
