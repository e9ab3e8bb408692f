// The list of runs: its order, its columns, its filter, by mouse and by keyboard, on every size of window.
import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { folder, inEveryView, isPhone, launch, openPage, program, start, startBoard, test, train, url, write } from "./support.mjs";

const ids = (page) => page.$$eval("tbody a", (links) => links.map((a) => a.textContent).join(" "));
const shows = (page, wanted) => page.waitForFunction((text) =>
  [...document.querySelectorAll("tbody a")].map((a) => a.textContent).join(" ") === text, wanted);
const titles = (page) => page.$$eval("thead th button", (heads) => heads.map((h) => h.textContent));
const column = async (page, title) => page.$$eval(`td[data-label="${title}"]`, (cells) => cells.map((c) => c.textContent));
async function sort(page, title) {
  if (!isPhone(page)) return page.click(`th button:text-matches("^${title}")`);
  return page.selectOption(".order select", { label: title });
}

async function sortsAndFilters(page, port) {
  await page.goto(url(port));
  await page.waitForSelector("tbody tr");
  assert.equal(await ids(page), "3 2 1");
  // The lowest loss first, with an arrow that says so; once more, and the order is reversed.
  await sort(page, "loss");
  await page.waitForSelector("th[aria-sort=ascending]:has-text('loss ▲')", { state: "attached" });
  const losses = (await column(page, "loss")).map(Number);
  assert.deepEqual(losses, [...losses].sort((a, b) => a - b));
  const rising = await ids(page);
  if (isPhone(page)) await page.click(".way"); else await sort(page, "loss");
  await page.waitForSelector("th[aria-sort=descending]:has-text('loss ▼')", { state: "attached" });
  assert.equal(await ids(page), rising.split(" ").reverse().join(" "));
  // The learning rate is a column, because the runs differ in it; the batch is none until it is chosen.
  assert.deepEqual([(await titles(page)).includes("lr"), (await titles(page)).includes("batch")], [true, false]);
  await sort(page, "lr");
  await shows(page, "3 2 1");
  assert.deepEqual(await column(page, "lr"), ["0.125", "0.25", "0.5"]);
  // Words and comparisons.
  for (const [words, wanted] of [["lr<0.3", "3 2"], ["lr=0.250", "2"], ["QUICK seed=7", "2"], ["status!=completed", ""], ["", "3 2 1"]]) {
    await page.fill("input[type=search]", words);
    await shows(page, wanted);
    assert.equal(await page.isVisible("text=No run fits the filter."), wanted === "");
  }
}

async function choosesColumns(page, port) {
  await page.goto(url(port));
  await page.waitForSelector("tbody tr");
  await page.click("summary:has-text('Columns')");
  await page.check("label:has-text('batch') input");
  await page.uncheck("label:has-text('seed') input");
  assert.deepEqual(await column(page, "device"), []);
  await page.check("label:has-text('device') input");
  assert.deepEqual(await column(page, "device"), ["cpu", "cpu", "cpu"]);
  assert.deepEqual([await column(page, "batch"), await column(page, "seed")], [["4", "4", "4"], []]);
  // What was chosen stays, also after a list that came in between.
  await page.reload();
  await page.waitForSelector("td[data-label=batch]");
  assert.deepEqual(await column(page, "seed"), []);
  await page.click("summary:has-text('Columns')");
  await page.click("text=As usual");
  await page.waitForSelector("td[data-label=seed]");
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("text=As usual"), false);
}

// The focus stays where it is while the list is asked for again, as it is every two seconds.
async function keepsTheFocus(page, port) {
  await page.goto(url(port));
  await page.focus("[data-key='sort loss']");
  await page.keyboard.press("Enter");
  await page.waitForSelector("th[aria-sort=ascending]:has-text('loss')");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "sort loss");
  await page.focus("[data-key='choose 2']");
  await page.keyboard.press("Space");
  train("quick.ail", "--steps", "5", "--out", "d");
  await shows(page, "1 2 3 4");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "choose 2");
  assert.equal(await page.isChecked("[data-key='choose 2']"), true);
}

// A click counts also when the list is redrawn between its two halves.
async function takesClicksWhileDrawn(page, port) {
  const running = start("train", "long.ail", "--allow", "fileread", "-q", "--out", "long", "--checkpoint-every", "1000000000");
  running.stdout.resume();
  await page.goto(url(port));
  await page.waitForSelector(".status.running");
  const steps = () => page.textContent("tr:has(.running) td[data-label=steps]");
  const link = await (await page.$("tr:has(.running) a")).boundingBox(), before = await steps();
  await page.mouse.move(link.x + link.width / 2, link.y + link.height / 2);
  await page.mouse.down();
  while (await steps() === before) await page.waitForTimeout(100);
  await page.mouse.up();
  await page.waitForSelector("h2:has-text('long.ail')");
  running.kill("SIGINT");
  await page.waitForSelector(".status.stopped");
}

// A history that cannot be read for a while is shown as soon as it can.
async function triesAgain(page, port) {
  const path = join(folder, "tern", "runs.db");
  renameSync(path, `${path}.away`);
  mkdirSync(path);
  await page.goto(url(port, "#/run/1"));
  await page.reload();
  await page.waitForSelector("[role=alert]:has-text('This cannot be shown: the history of runs cannot be read now')");
  rmdirSync(path);
  renameSync(`${path}.away`, path);
  await page.waitForSelector("h2:has-text('quick.ail')");
}

await test(async () => {
  write("long.ail", program(100000000));
  write("quick.ail", program(100));
  train("quick.ail", "--out", "a");
  train("quick.ail", "--out", "b", "--seed", "7", "--set", "lr=0.25");
  train("quick.ail", "--out", "c", "--seed", "10", "--set", "lr=0.125");
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "list", async (page) => {
      await sortsAndFilters(page, port);
      await choosesColumns(page, port);
    });
    const { page, close } = await openPage(browser, port);
    await keepsTheFocus(page, port);
    await takesClicksWhileDrawn(page, port);
    await triesAgain(page, port);
    await close();
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: order, columns, filter, focus, clicks, trying again");
});
