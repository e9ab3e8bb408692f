// A sweep as lines through its hyperparameters and as points over one of them.
import assert from "node:assert/strict";
import { call, inEveryView, launch, openPage, program, startBoard, test, train, url, write } from "./support.mjs";

const runs = (page, shape) => page.$$eval(`.${shape}`, (all) => all.map((s) => s.dataset.run));
const texts = (page, picture) => page.$$eval(`.${picture} text`, (all) => all.map((t) => t.textContent));

async function plots(page, port, listed) {
  await page.goto(url(port));
  await page.fill("input[type=search]", "sweep");   // the folder of the sweep, and not the other run
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 6);
  await page.click("a:has-text('Sweep plots')");
  await page.waitForSelector(".parallel .through");
  const ids = listed.map((run) => String(run.id)).sort();
  assert.deepEqual((await runs(page, "through")).sort(), ids);
  assert.deepEqual((await runs(page, "point")).sort(), ids);
  for (const name of ["lr", "optimizer", "evaluation loss", "sgd", "momentum"]) assert.ok((await texts(page, "parallel")).includes(name), name);
  // The best is that of the lowest evaluation loss; another metric has another.
  const best = (key, sign) => String([...listed].sort((a, b) => sign * (a[key] - b[key]) || a.id - b.id)[0].id);
  assert.match(await page.textContent("#best"), new RegExp(`^Best: run ${best("eval_loss", 1)} `));
  await page.selectOption("label:has-text('Metric') select", "seconds");
  await page.waitForFunction((id) => document.getElementById("best").textContent.startsWith(`Best: run ${id} `), best("seconds", 1));
  await page.selectOption("label:has-text('Metric') select", "eval_loss");
  await page.waitForFunction((id) => document.getElementById("best").textContent.startsWith(`Best: run ${id} `), best("eval_loss", 1));
  // Another hyperparameter across.
  await page.selectOption("label:has-text('Across') select", "optimizer");
  assert.ok((await texts(page, "scatter")).includes("momentum"));
  await page.selectOption("label:has-text('Across') select", "lr");
  // Points stand in the order of their learning rates.
  const places = await page.$$eval(".point", (all) => Object.fromEntries(all.map((p) => [p.dataset.run, Number(p.getAttribute("cx"))])));
  const byRate = [...listed].sort((a, b) => a.hyperparameters.lr - b.hyperparameters.lr);
  for (let i = 1; i < byRate.length; i++) assert.ok(places[byRate[i].id] >= places[byRate[i - 1].id]);
  // Pointing at a point marks its line, and says what the run is.
  const point = page.locator(`.point[data-run='${ids[0]}']`);
  await point.hover();
  assert.equal(await page.locator(`.through.marked`).getAttribute("data-run"), ids[0]);
  assert.match(await page.textContent("#told"), new RegExp(`^run ${ids[0]}: lr 0\\.\\d+, optimizer `));
}

// By keyboard: a run is reached and opened.
async function opens(page, port) {
  await page.goto(url(port, "#/sweep/sweep"));
  const point = page.locator(".point").last();
  await point.focus();
  assert.match(await page.textContent("#told"), /^run \d+: /);
  await page.keyboard.press("Enter");
  await page.waitForSelector("h2:has-text('quick.ail')");
  await page.goto(url(port, "#/sweep/nothing-like-this"));
  await page.waitForSelector("text=Fewer than two");
}

await test(async () => {
  write("quick.ail", program(40));
  train("quick.ail", "--out", "alone");
  call("train", "quick.ail", "--allow", "fileread", "-q", "--sweep", "lr=0.5,0.1,0.001", "--sweep", "optimizer=sgd,momentum", "--out", "sweep");
  const listed = JSON.parse(String(call("runs", "--json"))).runs.filter((run) => run.folder.includes("/sweep/"));
  assert.equal(listed.length, 6);
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "sweep", (page) => plots(page, port, listed));
    const { page, close } = await openPage(browser, port);
    await opens(page, port);
    await close();
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: a sweep as lines and as points");
});
