// Charts: values under the pointer on all of them at once, scale, smoothing, and a range that is drawn.
import assert from "node:assert/strict";
import { ask, inEveryView, launch, openPage, program, start, startBoard, test, train, url, write } from "./support.mjs";

const chart = (title) => `figure:has(figcaption:text-is("${title}"))`;
const readouts = (page) => page.$$eval(".readout:not([hidden])", (all) => all.map((r) => r.innerText));
const labels = (page, title) => page.$$eval(`${chart(title)} .chart text`, (all) => all.map((t) => t.textContent));
// The middle of a chart, and places to the left and right of it by a share of its width. What is in a .plot is
// redrawn during a run; the .plot stays.
async function place(page, title, share, part = ".overlay") {
  const overlay = page.locator(`${chart(title)} ${part}`);
  await overlay.scrollIntoViewIfNeeded();
  const box = await overlay.boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
}
const short = (x) => String(Number(x.toPrecision(4)));

async function pointsAtAll(page, port, run) {
  await page.goto(url(port, "#/run/1"));
  await page.waitForSelector(`${chart("Accuracy")} .overlay`);
  assert.deepEqual(await readouts(page), []);
  // Pointing at the accuracy shows the losses of the same step too.
  await page.mouse.move(...await place(page, "Accuracy", 0.5));
  const [losses, accuracy] = await readouts(page);
  const step = Number(/^step (\d+)/.exec(accuracy)[1]);
  const evaluated = run.evals.find((e) => e.step === step);
  assert.ok(evaluated, `step ${step} was evaluated`);
  assert.match(accuracy, new RegExp(`Accuracy ${short(evaluated.accuracy)}`));
  assert.match(losses, new RegExp(`^step ${step}\\n+training ${short(run.losses[step])}`));
  assert.match(losses, new RegExp(`evaluation ${short(evaluated.loss)}`));
  // Elsewhere nothing is shown.
  await page.mouse.move(2, 2);
  assert.deepEqual(await readouts(page), []);
}

async function changesScale(page) {
  const before = await labels(page, "Loss"), accuracy = await labels(page, "Accuracy");
  await page.click("button:has-text('Log scale')");
  assert.equal(await page.getAttribute("button:has-text('Log scale')", "aria-pressed"), "true");
  const after = await labels(page, "Loss");
  assert.ok(!after.includes("0") || !before.includes("0") || after.filter((t) => t === "0").length < before.filter((t) => t === "0").length);
  assert.ok(["0.1", "0.01", "0.5", "0.05"].some((t) => after.includes(t)), after.join());
  assert.deepEqual(await labels(page, "Accuracy"), accuracy);   // accuracies are between 0 and 1 in any case
  // The scale is kept.
  await page.reload();
  await page.waitForSelector(".overlay");
  assert.deepEqual(await labels(page, "Loss"), after);
  await page.click("button:has-text('Log scale')");
  assert.deepEqual(await labels(page, "Loss"), before);
}

// Both ends of the drawn curve, as numbers of pixels.
const lastY = (page) => page.$eval(`${chart("Loss")} .line`, (line) => line.getAttribute("d").split("L").at(-1));
async function smooths(page) {
  const slider = page.locator("input[type=range]");
  const usual = await lastY(page);
  await slider.fill("0");
  assert.equal(await page.locator(`${chart("Loss")} .raw`).count(), 0);
  const raw = await lastY(page);
  assert.notEqual(usual, raw);
  await slider.fill("0.9");
  assert.equal(await page.locator(`${chart("Loss")} .raw`).count(), 1);
  assert.equal(await page.textContent(".controls output"), "0.90");
  await slider.fill("0.6");
  assert.equal(await lastY(page), usual);
}

async function zooms(page) {
  const whole = await labels(page, "Accuracy");
  await page.mouse.move(...await place(page, "Loss", 0.25));
  await page.mouse.down();
  await page.mouse.move(...await place(page, "Loss", 0.5), { steps: 4 });
  await page.mouse.up();
  // Every chart shows the same range.
  const [, from, to] = /Steps (\d+) to (\d+)/.exec(await page.textContent("button:has-text('show all')")).map(Number);
  assert.ok(Math.abs(from - 25) <= 2 && Math.abs(to - 50) <= 2, `${from} to ${to}`);
  assert.notDeepEqual(await labels(page, "Accuracy"), whole);
  await page.mouse.dblclick(...await place(page, "Accuracy", 0.5));
  assert.equal(await page.isVisible("button:has-text('show all')"), false);
  assert.deepEqual(await labels(page, "Accuracy"), whole);
  // A click is no drag.
  await page.mouse.click(...await place(page, "Loss", 0.4));
  assert.equal(await page.isVisible("button:has-text('show all')"), false);
}

// The chart of a running training is redrawn twice a second; dragging over it still selects a range.
async function zoomsWhatGrows(page, port) {
  const running = start("train", "endless.ail", "--allow", "fileread", "-q", "--out", "endless", "--checkpoint-every", "1000000000");
  running.stdout.resume();
  const recorded = async () => JSON.parse((await ask(port, "/api/runs/3")).body).run?.recorded ?? 0;
  while (await recorded() === 0) await page.waitForTimeout(100);
  await page.goto(url(port, "#/run/3"));
  await page.waitForSelector("h2:has-text('endless.ail')");
  await page.waitForSelector(`${chart("Loss")} .overlay`);
  const live = () => page.$eval("#live", (line) => Number(/step (\d+)/.exec(line.textContent)?.[1] ?? 0));
  await page.mouse.move(...await place(page, "Loss", 0.25, ".plot"));
  await page.mouse.down();
  const before = await live();
  while (await live() === before) await page.waitForTimeout(100);
  await page.mouse.move(...await place(page, "Loss", 0.5, ".plot"), { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector("button:has-text('show all')");
  running.kill("SIGINT");
  await page.waitForSelector(".status.stopped");
  // What came while it was dragged is there.
  await page.click("button:has-text('show all')");
  const last = Number(await page.getAttribute(`${chart("Loss")} .overlay`, "aria-valuemax"));
  assert.ok(last > before, `${last} after ${before}`);
}

async function obeysKeys(page, run) {
  const slider = page.locator(`${chart("Loss")} .overlay`);
  await slider.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const said = await slider.getAttribute("aria-valuetext");
  assert.ok(said.startsWith(`step 1: training ${short(run.losses[1])}`), said);
  assert.equal(await slider.getAttribute("role"), "slider");
  assert.match((await readouts(page))[0], /^step 1\n/);
  await page.keyboard.press("+");
  assert.equal(await page.isVisible("button:has-text('show all')"), true);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "slider");
  await page.keyboard.press("0");
  assert.equal(await page.isVisible("button:has-text('show all')"), false);
  await page.keyboard.press("Escape");
  assert.deepEqual(await readouts(page), []);
}

// Of a long run a part is drawn; a range of it is drawn with every step.
async function refines(page, port) {
  await page.goto(url(port, "#/run/2"));
  await page.waitForSelector(`${chart("Loss")} .overlay`);
  await page.mouse.move(...await place(page, "Loss", 0.5));
  await page.mouse.down();
  await page.mouse.move(...await place(page, "Loss", 0.53), { steps: 3 });
  const answered = page.waitForResponse((r) => r.url().includes("/curve?from="));
  await page.mouse.up();
  const part = await (await answered).json();
  assert.ok(part.loss_steps.length > 500, String(part.loss_steps.length));
  await page.locator(`${chart("Loss")} .overlay`).focus();
  await page.keyboard.press("Home");
  for (const at of [0, 1, 2]) {
    await page.waitForFunction((text) => document.querySelector(".readout:not([hidden])")?.innerText.startsWith(text), `step ${part.loss_steps[at].toLocaleString("en-US")}\n`);
    assert.equal(part.loss_steps[at], part.loss_steps[0] + at);
    await page.keyboard.press("ArrowRight");
  }
}

await test(async () => {
  write("quick.ail", program(101));
  write("long.ail", program(20000));
  write("endless.ail", program(100000000));
  train("quick.ail", "--out", "a");
  train("long.ail", "--out", "b");
  const { port, end } = await startBoard();
  const { run } = JSON.parse((await ask(port, "/api/runs/1")).body);
  const browser = await launch();
  try {
    await inEveryView(browser, port, "charts", async (page) => {
      await pointsAtAll(page, port, run);
      await changesScale(page);
      await smooths(page);
      await zooms(page);
      await obeysKeys(page, run);
      await page.mouse.move(...await place(page, "Loss", 0.6));
    });
    const { page, close } = await openPage(browser, port);
    await refines(page, port);
    await zoomsWhatGrows(page, port);
    await close();
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: values under the pointer, scale, smoothing, range, keys");
});
