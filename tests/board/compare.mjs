// Runs side by side: what differs, and their programs line by line.
import assert from "node:assert/strict";
import { call, inEveryView, launch, program, startBoard, test, train, url, write } from "./support.mjs";

const names = (page) => page.$$eval(".what tbody th", (heads) => heads.map((h) => h.textContent));
const rows = (page, kind) => page.$$eval(`.difference tr.${kind}`, (all) => all.map((r) => [...r.children].map((c) => c.innerText.trim().replace(/\s+/g, " ")).join("|")));

async function compares(page, port) {
  await page.goto(url(port));
  for (const id of [1, 2, 3]) await page.check(`[data-key='choose ${id}']`);
  await page.click("a:has-text('Compare 3 runs')");
  await page.waitForSelector("#verdict");
  assert.match(await page.textContent("#verdict"), /differ from step 0 on.*weights differ/);
  // What differs is what the terminal says, and nothing else.
  const said = JSON.parse(String(call("runs", "compare", "1", "2", "--json"))).comparison;
  const other = JSON.parse(String(call("runs", "compare", "1", "3", "--json"))).comparison;
  const wanted = new Set([said, other].flatMap((c) => [...Object.keys(c.differences), ...Object.keys(c.hyperparameters)]));
  assert.deepEqual(new Set(await names(page)), wanted);
  for (const name of ["lr", "seed", "tags"]) assert.equal(wanted.has(name), name !== "tags", name);
  // The first two have the same program.
  assert.equal(await page.isVisible("text=The programs are the same."), true);
  // The third has another learning rate and one more line; the rest is folded away.
  await page.selectOption("select[aria-label^='the run whose program']", { index: 1 });
  await page.waitForSelector(".difference");
  assert.deepEqual(await rows(page, "old"), [`8||removed: − train { loss = xent(logits, labels) steps = 60 lr = 0.5 batch = 4 }`]);
  assert.deepEqual(await rows(page, "new"), [`|8|added: + train { loss = xent(logits, labels) steps = 60 lr = 0.25 batch = 4 }`, "|42|added: + # at the end"]);
  const before = (await rows(page, "same")).length;
  await page.click("button:has-text('that are the same') >> nth=-1");
  assert.ok((await rows(page, "same")).length > before);
  // Values under the pointer are those of all three.
  const box = await page.locator(".overlay").first().boundingBox();
  await page.locator(".overlay").first().hover({ position: { x: box.width / 2, y: 60 } });
  assert.equal((await page.locator(".readout").first().innerText()).match(/run [123]/g).length, 3);
}

await test(async () => {
  const filler = Array.from({ length: 30 }, (_, i) => `# line ${i}`).join("\n");
  write("one.ail", `${program(60)}${filler}\n`);
  write("two.ail", `${program(60).replace("lr = 0.5", "lr = 0.25")}${filler}\n# at the end\n`);
  train("one.ail", "--out", "a");
  train("one.ail", "--out", "b", "--seed", "7");
  train("two.ail", "--out", "c");
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "compare", (page) => compares(page, port));
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: what differs, programs line by line");
});
