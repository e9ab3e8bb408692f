// The board as a person uses it: open the list, follow a run in progress, compare two, look at a
// graph, with the keyboard too. And what it must refuse: other hosts, other origins, other methods.
import { createServer } from "node:http";
import assert from "node:assert/strict";
import { ask, call, launch, openPage, picture, program, start, startBoard, test, train, write } from "./support.mjs";

async function guarded(port) {
  const own = await ask(port, "/api/runs");
  assert.equal(own.status, 200);
  assert.match(own.headers["content-security-policy"], /default-src 'none'/);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port + 1}`, `localhost.evil.example:${port}`])
    assert.equal((await ask(port, "/api/runs", { headers: { Host: host } })).status, 403, host);
  for (const origin of ["http://evil.example", "null", `https://127.0.0.1:${port}`])
    assert.equal((await ask(port, "/api/runs", { headers: { Origin: origin } })).status, 403, origin);
  assert.equal((await ask(port, "/api/runs", { headers: { Origin: `http://localhost:${port}` } })).status, 200);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) assert.equal((await ask(port, "/api/runs", { method })).status, 405, method);
  for (const path of ["/../../etc/passwd", "/%2e%2e/etc/passwd", "/api/runs/99", "/api/runs/x", "/api/runs/1/other", "/nothing"])
    assert.equal((await ask(port, path)).status, 404, path);
}

async function look(port) {
  const browser = await launch();
  try {
    const { page, close } = await openPage(browser, port);

    // The list: two finished runs, newest first.
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForSelector("tbody tr");
    assert.deepEqual(await page.$$eval("tbody a", (links) => links.map((a) => a.textContent)), ["2", "1"]);

    // By keyboard alone: the first link after the tab key that leads to a run opens it.
    await page.focus("tbody a");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h2:has-text('quick.ail')");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    // The program is shown as text, whatever it contains.
    assert.match(await page.textContent("pre"), /<img src=x onerror/);
    // Curves, parameters and the graph are there.
    assert.equal((await page.$$("figure svg.chart path")).length >= 3, true);
    await page.waitForSelector(".params h4");
    assert.deepEqual(await page.$$eval(".params h4", (names) => names.map((n) => n.textContent)), ["E", "W"]);
    await page.waitForSelector(".stage .node");
    const drawn = (await ask(port, "/api/runs/1/graph")).body;
    for (const word of ["matmul", "line 6", "[40, 8]"]) assert.ok(drawn.includes(word), word);
    await picture(page, "run");

    // A page of another site asks in every way a page can: the browser says whose it is, and gets nothing.
    const foreignPage = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(
      `<img src="http://127.0.0.1:${port}/api/runs/1/graph"><script src="http://127.0.0.1:${port}/board.js"></script>
       <iframe src="http://127.0.0.1:${port}/"></iframe><a href="http://127.0.0.1:${port}/">the board</a>
       <script>fetch("http://127.0.0.1:${port}/api/runs", { mode: "no-cors" })</script>`));
    await new Promise((done) => foreignPage.listen(0, "127.0.0.1", done));
    const other = await browser.newPage(), asked = new Set(), got = [];
    const ours = (url) => new URL(url).port === String(port);
    other.on("request", (r) => { if (ours(r.url())) asked.add(new URL(r.url()).pathname); });
    other.on("response", (r) => { if (ours(r.url())) got.push(r.status()); });   // of what the browser lets a page see
    await other.goto(`http://localhost:${foreignPage.address().port}/`, { waitUntil: "networkidle" });
    await other.click("a");
    await other.waitForLoadState();
    assert.deepEqual([...asked].sort(), ["/", "/api/runs", "/api/runs/1/graph", "/board.js"]);
    assert.deepEqual(new Set(got), new Set([403]));
    await other.close();
    foreignPage.close();

    // Two runs side by side.
    await page.goto(`http://127.0.0.1:${port}/#/`);
    await page.waitForSelector("tbody tr");
    for (const box of await page.$$("tbody input[type=checkbox]")) await box.check();
    await page.click("a:has-text('Compare 2 runs')");
    await page.waitForSelector("#verdict");
    assert.match(await page.textContent("#verdict"), /differ from step 0 on.*weights differ/);
    assert.equal((await page.$$eval("tbody th", (heads) => heads.map((h) => h.textContent)))
      .filter((name) => ["seed", "lr", "batch"].includes(name)).join(), "seed,lr");
    await picture(page, "compare");

    // A run in progress: the page follows it, and sees it stop.
    const running = start("train", "long.ail", "--allow", "fileread", "-q", "--out", "long", "--checkpoint-every", "1000000000");
    running.stdout.resume();
    while ((await ask(port, "/api/runs/3")).status !== 200) await page.waitForTimeout(100);
    await page.goto(`http://127.0.0.1:${port}/#/run/3`);
    await page.waitForSelector("h2:has-text('long.ail')");
    const steps = () => page.$eval("#live", (line) => Number(/step (\d+)/.exec(line.textContent)?.[1] ?? -1));
    await page.waitForFunction(() => /running, step [1-9]/.test(document.getElementById("live").textContent), null);
    const before = await steps();
    await page.waitForFunction((n) => Number(/step (\d+)/.exec(document.getElementById("live").textContent)?.[1]) > n, before);
    await picture(page, "live");
    const facts = await page.$$eval("dl.cards > *", (cards) => cards.map((c) => c.textContent));
    assert.ok(facts.includes("devicecpu"), facts.join(", "));
    running.kill("SIGINT");
    await page.waitForSelector(".status.stopped");

    // Dark, and narrow.
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 420, height: 900 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), true, "no sideways scrolling");
    await picture(page, "dark");

    // Nothing was complained of, nothing came from elsewhere.
    await close();
  } finally {
    await browser.close();
  }
}

await test(async () => {
  write("quick.ail", program(100, "<img src=x onerror=alert(1)>"));
  write("long.ail", program(100000000));
  train("quick.ail", "--out", "a");
  train("quick.ail", "--out", "b", "--seed", "7", "--set", "lr=0.25");
  const { port, end } = await startBoard();
  await guarded(port);
  // A port in use is one clear message.
  assert.throws(() => call("board", "--port", String(port)), (error) => error.status === 1 && /E_BOARD/.test(String(error.stderr)));
  await look(port);
  await end();
  console.log("board: list, run, live, comparison, graph, refusals");
});
