// The graph of a model: functions and layers that open and close, names, zoom, and the way to the program.
import assert from "node:assert/strict";
import { inEveryView, launch, openPage, startBoard, test, train, url, write } from "./support.mjs";

const titles = (page) => page.$$eval(".stage .node title", (all) => all.map((t) => t.textContent));
const has = (page, text) => page.waitForFunction((t) => [...document.querySelectorAll(".stage .node title")].some((e) => e.textContent.startsWith(t)), text);
const viewBox = async (page) => (await page.getAttribute(".stage > svg", "viewBox")).split(" ").map(Number);

async function opensAndCloses(page, port) {
  await page.goto(url(port, "#/run/1"));
  await has(page, "attend 1");
  // Calls are boxes; what is inside, and the parameters that they alone use, is not seen.
  const closed = await titles(page);
  for (const name of ["attend 1,", "h = attend 2,", "halved,"]) assert.ok(closed.some((t) => t.startsWith(name)), `${name} of ${closed.join("; ")}`);
  assert.equal(closed.some((t) => /^(q|k|v) = /.test(t) || t.includes("Wq")), false, closed.join("; "));
  // One is opened by a click: its values have their names, and the other stays as it is.
  await page.locator(".stage .call").first().click();
  await has(page, "q = ");
  const opened = await titles(page);
  for (const name of ["q = matmul", "k = matmul", "v = matmul", "attend.0.Wq", "h = attend 2"]) assert.ok(opened.some((t) => t.startsWith(name)), `${name} of ${opened.join("; ")}`);
  assert.equal(opened.some((t) => t.includes("attend.1.Wq")), false);
  await page.click("button:has-text('attend 1 ✕')");
  await page.waitForFunction((n) => document.querySelectorAll(".stage .node").length === n, closed.length);
  // All, and none.
  await page.click("button:has-text('Expand all')");
  await has(page, "attend.1.Wq");
  assert.equal(await page.locator(".stage .call").count(), 0);
  await page.click("button:has-text('Collapse all')");
  await page.waitForFunction((n) => document.querySelectorAll(".stage .node").length === n, closed.length);
}

async function zoomsAndMoves(page) {
  await page.click("button:has-text('Fit')");
  const whole = await viewBox(page);
  await page.click("button[aria-label='zoom in']");
  const near = await viewBox(page);
  assert.ok(near[2] < whole[2] && near[0] > whole[0]);
  const box = await page.locator(".stage").boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 50, { steps: 4 });
  await page.mouse.up();
  const moved = await viewBox(page);
  assert.ok(moved[0] < near[0] && moved[1] < near[1] && moved[2] === near[2]);
  await page.locator(".stage").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok((await viewBox(page))[0] > moved[0]);
  await page.keyboard.press("+");
  assert.ok((await viewBox(page))[2] < moved[2]);
  await page.keyboard.press("0");
  assert.deepEqual(await viewBox(page), whole);
}

// A box leads to its line; a line marks its boxes.
async function leadsToTheProgram(page) {
  await page.click("button:has-text('Fit')");
  await page.locator(".stage .node:has(title:text('logits = '))").first().click();
  const marked = await page.textContent(".source .marked");
  assert.match(marked, /logits = linear/);
  await page.click(".source .row:has-text('x = embedding')");
  const boxes = await page.$$eval(".stage .node.marked title", (all) => all.map((t) => t.textContent));
  assert.ok(boxes.length >= 1 && boxes.every((t) => /line 15$/.test(t)), boxes.join("; "));
  // The program has colours, and is still text.
  assert.equal(await page.locator(".source .hl-keyword:text-is('model')").count(), 1);
  assert.ok(await page.locator(".source .hl-number").count() > 0);
}

// With the keyboard alone, and for a screen reader.
async function opensByKeyboard(page, port) {
  await page.goto(url(port, "#/run/1"));
  await has(page, "attend 1");
  const call = page.locator(".stage .call").first();
  assert.deepEqual([await call.getAttribute("role"), await call.getAttribute("aria-expanded")], ["button", "false"]);
  assert.match(await call.getAttribute("aria-label"), /^attend 1, .* operations, line \d+; opens$/);
  await call.focus();
  await page.keyboard.press("Enter");
  await has(page, "q = ");
  assert.match(await page.textContent("#live"), /attend 1 open/);
}

await test(async () => {
  write("attend.ail", `layer attend(x) {
  param Wq [8, 8]
  param Wk [8, 8]
  param Wv [8, 8]
  q = matmul(x, Wq)
  k = matmul(x, Wk)
  v = matmul(x, Wv)
  x + attention(q, k, v)
}
fn halved(x) { x * 0.5 }
model {
  tokens [B, T]
  labels [B]
  param E [40, 8]
  x = embedding(tokens, E)
  h = attend(attend(x))
  param W [8, 2]
  logits = linear(meanpool(halved(h)), W)
}
train { loss = xent(logits, labels) steps = 5 lr = 0.1 batch = 4 }
dataset { format = "jsonl" path = "rows.jsonl" split = 0.75 }
`);
  train("attend.ail", "--out", "a");
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "graph", async (page) => {
      await opensAndCloses(page, port);
      await zoomsAndMoves(page);
      await leadsToTheProgram(page);
      await page.locator(".stage .call").first().click();
      await has(page, "q = ");
    });
    const { page, close } = await openPage(browser, port);
    await opensByKeyboard(page, port);
    await close();
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: a graph that opens, closes, zooms and leads to the program");
});
