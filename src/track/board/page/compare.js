// Several runs side by side: curves, what differs, and their programs line by line.
import { ChartGroup, colourOf, curve, evaluations } from "./charts.js";
import { difference } from "./difference.js";
import { el, get, hyper, last, say, show } from "./dom.js";

// The server reports for each run what differs from the first; values are those of the runs.
function differing(runs, answers) {
  const columns = new Set(answers.flatMap((a) => Object.keys(a.differences)));
  const hypers = new Set(answers.flatMap((a) => Object.keys(a.hyperparameters)));
  const written = (key, value) => key.endsWith("sha256") && value ? value.slice(0, 16) : String(value ?? "–");
  return [...[...columns].map((key) => [key, runs.map((run) => written(key, run[key]))]),
    ...[...hypers].map((name) => [name, runs.map((run) => String(hyper(run, name) ?? "–"))])];
}

function verdict(answers) {
  const steps = answers.map((a) => a.first_different_step).filter((step) => step !== null);
  const losses = steps.length === 0 ? "The losses agree in every bit over the steps they share." : `The losses differ from step ${Math.min(...steps)} on.`;
  const weights = answers.some((a) => a.same_weights === null) ? "A run has not ended: its weights are not known yet."
    : answers.every((a) => a.same_weights) ? "The weights agree in every bit."
    : answers.some((a) => !a.same_weights && a.same_origin) ? "The weights differ, though nothing that decides bits does." : "The weights differ.";
  return `${losses} ${weights}`;
}

export async function compare(signal, ids) {
  const runs = await Promise.all(ids.map(async (id) => (await get(`/api/runs/${id}`, signal)).run));
  const answers = await Promise.all(ids.slice(1).map((id) => get(`/api/runs/${ids[0]}/compare/${id}`, signal)));
  const name = (run) => `run ${run.id} (${last(run.program)}, seed ${run.seed})`;
  const group = new ChartGroup();
  const draw = (title, points, options) =>
    group.chart(title, options).set(runs.map((run, i) => ({ name: name(run), points: points(run), colour: colourOf(i), smooth: title === "Loss" })));
  draw("Loss", curve);
  draw("Evaluation loss", (run) => evaluations(run.evals, "loss"));
  draw("Accuracy", (run) => evaluations(run.evals, "accuracy"), { zero: true, scalable: false });
  say(`comparing ${runs.length} runs`);
  const rows = differing(runs, answers);
  const programs = el("div"), other = el("select", { "aria-label": "the run whose program is compared with that of the first", onchange: drawPrograms },
    runs.slice(1).map((run, i) => el("option", { value: String(i) }, name(run))));
  function drawPrograms() {
    const at = Number(other.value);
    programs.replaceChildren(difference(runs[0], runs[at + 1], answers[at].source));
  }
  show(el("h2", {}, `Comparison of ${runs.length} runs`), el("p", { id: "verdict" }, verdict(answers)),
    group.controls, group.element,
    el("h3", {}, "What differs"),
    rows.length === 0 ? el("p", {}, "Nothing.") : el("div", { class: "scroll" }, el("table", { class: "what" }, [
      el("thead", {}, el("tr", {}, [el("th", { scope: "col" }, el("span", { class: "unseen" }, "name")), ...runs.map((run) => el("th", { scope: "col" }, el("a", { href: `#/run/${run.id}` }, name(run))))])),
      el("tbody", {}, rows.map(([key, values]) => el("tr", {}, [el("th", { scope: "row" }, key), ...values.map((value) => el("td", { class: "number" }, value))])))])),
    el("h3", {}, "Programs"), el("p", { class: "bar" }, [`${name(runs[0])} against`, runs.length > 2 ? other : name(runs[1])]), programs);
  drawPrograms();
}
