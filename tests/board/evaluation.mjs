// What `tern evaluate --record` found, on the page of a run: the confusion matrix and the worst rows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, folder, inEveryView, launch, openPage, startBoard, test, train, url, write } from "./support.mjs";

const CLASSES = `model { x [B, 3] labels [B] param W [3, 3] logits = matmul(x, W) }
train { loss = xent(logits, labels) steps = 1 lr = 0.0 }
dataset { format = "csv" path = "three.csv" x = 0-2 labels = "kind" }
`;
const NUMBERS = `model { x [B, 1] y [B, 1] param w [1, 1] p = matmul(x, w) }
train { loss = mse_loss(p, y) steps = 1 lr = 0.0 }
dataset { format = "csv" path = "line.csv" x = "x" y = "y" }
`;
const cells = (page, kind) => page.$$eval(`.judged table.${kind} tbody tr`, (rows) => rows.map((row) => [...row.children].map((c) => c.textContent)));
const heads = (page, kind) => page.$$eval(`.judged table.${kind} thead th`, (all) => all.map((h) => h.textContent));

// Until another run is there, the page shows the one before.
async function visit(page, port, run) {
  await page.goto(url(port, `#/run/${run}`));
  await page.waitForSelector(`h2:has-text('Run ${run}:')`);
}
async function open(page, port, run) {
  await visit(page, port, run);
  await page.waitForSelector(".judged h3");
}

// The logits are the columns of the file: who is right and who is wrong is there to be counted.
async function showsClasses(page, port) {
  await open(page, port, 1);
  assert.match(await page.textContent(".judged p"), /^three.csv: 6 rows, loss 1.586, accuracy 0.5$/);
  assert.deepEqual(await heads(page, "confusion"), ["class", "cat", "dog", "owl<b>", "right"]);
  assert.deepEqual(await cells(page, "confusion"),
    [["cat", "1", "0", "1", "50.0 %"], ["dog", "1", "1", "1", "33.3 %"], ["owl<b>", "0", "0", "1", "100.0 %"]]);
  assert.deepEqual(await heads(page, "worst"), ["line", "row", "class", "predicted", "probability of the class", "loss"]);
  const worst = await cells(page, "worst");
  assert.equal(worst.length, 6);
  assert.deepEqual(worst.slice(0, 3), [["4", "3", "dog", "owl<b>", "0.01767", "4.036"], ["6", "5", "cat", "owl<b>", "0.01767", "4.036"],
    ["3", "2", "dog", "cat", "0.3333", "1.099"]]);
  await isAccessible(page);
  await isShaded(page);
}

// Heads say what they are of, tables what they are, and what scrolls can be reached by the keyboard.
async function isAccessible(page) {
  assert.equal(await page.locator(".judged th:not([scope])").count(), 0);
  assert.equal(await page.locator(".judged table.confusion tbody th[scope=row]").count(), 3);
  assert.equal(await page.locator(".judged caption").count(), 2);
  await page.focus(".judged [role=region] >> nth=0");
  assert.ok(await page.getByRole("region", { name: /Confusion matrix/ }).isVisible());
}

// The larger the share of a class, the stronger the shade; right and wrong have different ones, and none is for 0.
async function isShaded(page) {
  const shades = await page.$$eval(".judged table.confusion tbody td:not(:last-child)", (all) => all.map((c) => getComputedStyle(c).backgroundColor));
  const [hit, none, miss] = shades;
  assert.equal(new Set([hit, none, miss]).size, 3);
  assert.match(none, /\/ 0\)|, 0\)/);
  assert.notEqual(shades[0], shades[8]);
}

async function showsNumbers(page, port) {
  await open(page, port, 2);
  assert.equal(await page.locator(".judged table.confusion").count(), 0);
  assert.deepEqual(await heads(page, "worst"), ["line", "row", "value", "answer", "error"]);
  assert.deepEqual(await cells(page, "worst"), [["3", "2", "10", "6", "4"], ["5", "4", "6", "10", "4"], ["4", "3", "-3.5", "-4", "0.5"], ["2", "1", "2", "2", "0"]]);
}

// Nothing was recorded, the run was trained further, and a file that is broken.
async function showsTheRest(browser, port) {
  const { page, close } = await openPage(browser, port);
  await Promise.all([page.waitForResponse((r) => r.url().endsWith("/3/evaluation")), page.goto(url(port, "#/run/3"))]);
  await page.waitForSelector(".params figure");
  assert.equal(await page.textContent(".judged"), "");
  const file = join(folder, "a", "evaluation.json"), good = readFileSync(file, "utf8");
  call("train", "half.ail", "--allow", "fileread", "-q", "--out", "c");
  call("evaluate", "c", "three.csv", "--record");
  await visit(page, port, 4);
  await page.waitForSelector(".judged table");
  assert.equal(await page.locator(".judged .error").count(), 0);
  call("train", "half.ail", "--allow", "fileread", "-q", "--resume", "c", "--out", "c", "--steps", "4");
  await page.goto(url(port));
  await page.waitForSelector("tbody tr");
  await visit(page, port, 4);
  await page.waitForSelector(".judged table");
  assert.match(await page.textContent(".judged .error"), /other weights by now/);
  write("a/evaluation.json", good.slice(0, 100));
  await visit(page, port, 1);
  await page.waitForSelector(".judged .error");
  assert.equal(await page.textContent(".judged .error"), "evaluation.json is damaged: its hash does not match");
  assert.equal(await page.locator(".judged table").count(), 0);
  await page.waitForSelector(".params figure");   // the rest of the page is there
  await close((text) => text.includes("404"));
}

await test(async () => {
  write("three.ail", CLASSES);
  write("half.ail", CLASSES.replace("lr = 0.0", "lr = 0.5"));
  write("line.ail", NUMBERS);
  write("three.csv", "a,b,c,kind\n2,0,0,cat\n0,0,0,dog\n0,0,4,dog\n0,3,0,dog\n0,0,4,cat\n0,0,5,owl<b>\n");
  write("line.csv", "x,y\n1,2\n3,10\n-2,-3.5\n5,6\n");
  train("three.ail", "--out", "a", "--param=W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]");
  train("line.ail", "--out", "b", "--param", "w=[[2]]");
  train("three.ail", "--out", "none");
  call("evaluate", "a", "three.csv", "--record");
  call("evaluate", "b", "line.csv", "--record");
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "evaluation", (page) => showsClasses(page, port));
    await inEveryView(browser, port, "evaluation-numbers", (page) => showsNumbers(page, port));
    await showsTheRest(browser, port);
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: confusion matrices and worst rows");
});
