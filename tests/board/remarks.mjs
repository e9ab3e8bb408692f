// Tags and notes of a run, and runs that are deleted after asking; by mouse and by keyboard.
import assert from "node:assert/strict";
import { ask, call, inEveryView, isPhone, launch, openPage, picture, program, start, startBoard, test, train, url, write } from "./support.mjs";

const ids = (page) => page.$$eval("tbody a", (links) => links.map((a) => a.textContent).join(" "));

async function writesRemarks(page, port, { width, colorScheme }) {
  const words = `w${width} ${colorScheme}`, text = `Seen at ${width}\nin ${colorScheme} <b>`;
  await page.goto(url(port, "#/run/1"));
  await page.fill("#tags", `${words}, ${words}`);
  await page.fill("#notes", text);
  assert.equal(await page.isVisible("text=Not saved yet."), true);
  await page.click("button:has-text('Save')");
  await page.waitForSelector("text=Saved.");
  assert.equal(await page.inputValue("#tags"), words);
  const { run } = JSON.parse((await ask(port, "/api/runs/1")).body);
  assert.deepEqual([run.tags, run.notes], [words, text]);
  // The list shows the tags, and is searched by them.
  await page.click("h1 a");
  await page.waitForSelector(`.tag:text-is("w${width}")`);
  await page.fill("input[type=search]", `tags=${colorScheme}`);
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  assert.equal(await ids(page), "1");
  await page.fill("input[type=search]", "");
  // Nothing is deleted by a question that is answered with no, by mouse or by Escape.
  await page.waitForSelector("[data-key='choose 2']");
  await page.check("[data-key='choose 2']");
  for (const answer of [() => page.click("dialog button:has-text('Cancel')"), () => page.keyboard.press("Escape")]) {
    await page.click("button:has-text('Delete …')");
    await page.waitForSelector("dialog[open]");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel");
    if (isPhone(page) || width === 1400) await picture(page, `delete-${width}-${colorScheme}`);
    await answer();
    await page.waitForSelector("dialog", { state: "detached" });
  }
  assert.equal((await ids(page)).includes("2"), true);
}

async function deletes(page, port) {
  // Two of the list.
  await page.goto(url(port));
  for (const id of [2, 3]) await page.check(`[data-key='choose ${id}']`);
  await page.click("button:has-text('Delete …')");
  await page.click("dialog button:has-text('Delete 2 runs')");
  await page.waitForFunction(() => [...document.querySelectorAll("tbody a")].map((a) => a.textContent).join(" ") === "4 1");
  assert.equal(await page.isVisible("button:has-text('Delete …')"), false);
  // One of its own page, by keyboard alone; then the list is shown.
  await page.goto(url(port, "#/run/4"));
  await page.waitForSelector("h2:has-text('Run 4')");   // the list has such a button too, hidden
  await page.focus("button:has-text('Delete …')");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("tbody tr");
  assert.equal(await ids(page), "1");
  assert.equal((await ask(port, "/api/runs/4")).status, 404);
}

// A run in progress has no such button, and the board refuses.
async function keepsWhatRuns(page, port) {
  const running = start("train", "long.ail", "--allow", "fileread", "-q", "--out", "long", "--checkpoint-every", "1000000000");
  running.stdout.resume();
  await page.goto(url(port));
  await page.waitForSelector(".status.running");
  await page.click("tbody tr:has(.running) a");
  await page.waitForSelector("h2:has-text('long.ail')");
  await page.waitForSelector("button:disabled:has-text('Delete …')");
  await page.goto(url(port));
  await page.check("tbody tr:has(.running) input");
  await page.click("button:has-text('Delete …')");
  await page.click("dialog button:has-text('Delete run')");
  await page.waitForSelector("dialog .error:has-text('the run is in progress')");
  await page.keyboard.press("Escape");
  running.kill("SIGINT");
  await page.waitForSelector(".status.stopped");
}

// The page of a board that has ended cannot write to the next one at the same address.
async function forgetsOldPages(page, port, end) {
  await page.goto(url(port, "#/run/1"));
  await page.waitForSelector("#notes");
  await end();
  const again = await startBoard(port);
  await page.fill("#notes", "from an old page");
  await page.click("button:has-text('Save')");
  await page.waitForSelector(".error:has-text('load it again')");
  assert.equal(await page.inputValue("#notes"), "from an old page");   // what was written is still there
  await page.reload();
  await page.waitForSelector("#notes");
  await page.fill("#notes", "from a new page");
  await page.click("button:has-text('Save')");
  await page.waitForSelector("text=Saved.");
  return again;
}

await test(async () => {
  write("quick.ail", program(40));
  write("long.ail", program(100000000));
  for (const seed of ["1", "2", "3", "4"]) train("quick.ail", "--out", seed, "--seed", seed);
  let { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "remarks", (page, view) => writesRemarks(page, port, view));
    assert.match(String(call("runs", "show", "1")), /^tags +w1400 dark$/m);
    assert.match(String(call("runs", "--where", "tags=dark", "--json")), /"id":1,/);
    assert.match(String(call("runs", "--where", "tags=dar")), /no runs/);
    const { page, close } = await openPage(browser, port);
    await deletes(page, port);
    await keepsWhatRuns(page, port);
    ({ port, end } = await forgetsOldPages(page, port, end));
    await close((text) => /403|409|ERR_/.test(text));   // the refusals, and the board that was away
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: tags, notes, deleting");
});
