// The board as a person uses it: open the list, follow a run that is going on, compare two, look at a
// graph, with the keyboard too. And what it must refuse: other hosts, other origins, other methods.
//
//   node browser.mjs TERN NODE_MODULES CHROMIUM [FOLDER FOR PICTURES]
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";

const [tern, modules, browserPath, pictures] = process.argv.slice(2).map((x) => resolve(x));
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "tern-board-"));
const env = { ...process.env, XDG_DATA_HOME: folder, HOME: folder };
const children = [];

const program = (steps, extra = "") => `model {
  tokens [B, T]
  labels [B]
  param E [40, 8]
  param W [8, 2]
  logits = linear(meanpool(embedding(tokens, E)), W)
}
train { loss = xent(logits, labels) steps = ${steps} lr = 0.5 batch = 4 }
dataset { format = "jsonl" path = "rows.jsonl" split = 0.75 }
eval { every = 20 metrics = [loss, accuracy] }
# ${extra}
`;
writeFileSync(join(folder, "rows.jsonl"), Array.from({ length: 24 }, (_, i) =>
  JSON.stringify({ tokens: [i % 20, (i % 2) * 20 + 1, (i % 2) * 20 + 2], label: i % 2 })).join("\n") + "\n");
writeFileSync(join(folder, "quick.ail"), program(100, "<img src=x onerror=alert(1)>"));
writeFileSync(join(folder, "long.ail"), program(100000000));

const train = (file, ...options) => execFileSync(tern, ["train", file, "--allow", "fileread", "-q", ...options], { cwd: folder, env });
function start(...words) {
  const child = spawn(tern, words, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return child;
}
const firstLine = (child) => new Promise((done) => child.stdout.once("data", (data) => done(String(data).split("\n")[0])));

// A request with headers that a browser would not let a page set.
const ask = (port, path, { method = "GET", headers = {} } = {}) => new Promise((done, failed) => {
  const r = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
    let body = "";
    answer.on("data", (part) => { body += part; }).on("end", () => done({ status: answer.statusCode, headers: answer.headers, body }));
  });
  r.on("error", failed).end();
});

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
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const complaints = [], foreign = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (r) => { if (!r.url().startsWith(`http://127.0.0.1:${port}/`)) foreign.push(r.url()); });
    const picture = async (name) => { if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }); };

    // The list: two finished runs, newest first; a filter; an order.
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForSelector("tbody tr");
    assert.deepEqual(await page.$$eval("tbody a", (links) => links.map((a) => a.textContent)), ["2", "1"]);
    await page.fill("input[type=search]", "nothing like this");
    assert.equal((await page.$$("tbody tr")).length, 0);
    await page.fill("input[type=search]", "");
    await page.click("th button:has-text('seed')");
    assert.equal(await page.getAttribute("th:has-text('seed')", "aria-sort"), "descending");
    // The learning rate is a column, because the runs differ in it; the batch is none. Runs are found by it.
    const titles = await page.$$eval("thead th", (heads) => heads.map((h) => h.textContent));
    assert.deepEqual([titles.includes("lr"), titles.includes("batch")], [true, false]);
    const rates = () => page.$$eval("tbody tr", (rows, at) => rows.map((row) => row.children[at].textContent), titles.indexOf("lr"));
    await page.click("th button:has-text('lr')");
    assert.deepEqual(await rates(), ["0.5", "0.25"]);
    await page.click("th button:has-text('lr')");
    assert.deepEqual(await rates(), ["0.25", "0.5"]);
    await page.fill("input[type=search]", "lr=0.25");
    assert.deepEqual(await rates(), ["0.25"]);
    await page.fill("input[type=search]", "");
    await picture("list");

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
    await page.waitForFunction(() => document.querySelector(".graph img")?.naturalWidth > 0);
    const drawn = (await ask(port, "/api/runs/1/graph")).body;
    for (const word of ["matmul", "line 6", "[40, 8]"]) assert.ok(drawn.includes(word), word);
    await picture("run");

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
    await picture("compare");

    // A run that is going on: the page follows it, and sees it stop.
    const running = start("train", "long.ail", "--allow", "fileread", "-q", "--out", "long", "--checkpoint-every", "1000000000");
    running.stdout.resume();
    await page.goto(`http://127.0.0.1:${port}/#/run/3`);
    for (let i = 0; i < 40 && !(await page.$("h2:has-text('long.ail')")); i++) {
      await page.waitForTimeout(250);
      await page.reload();
    }
    const steps = () => page.$eval("#live", (line) => Number(/step (\d+)/.exec(line.textContent)?.[1] ?? -1));
    await page.waitForFunction(() => /running, step [1-9]/.test(document.getElementById("live").textContent), null, { timeout: 30000 });
    const before = await steps();
    await page.waitForFunction((n) => Number(/step (\d+)/.exec(document.getElementById("live").textContent)?.[1]) > n, before, { timeout: 30000 });
    await picture("live");
    running.kill("SIGINT");
    await page.waitForSelector(".status.stopped", { timeout: 30000 });

    // Dark, and narrow.
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 420, height: 900 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), true, "no sideways scrolling");
    await picture("dark");

    // The 404s while run 3 was awaited are ours; nothing else was complained of, nothing came from elsewhere.
    assert.deepEqual(complaints.filter((text) => !text.includes("404")), []);
    assert.deepEqual(foreign, []);
  } finally {
    await browser.close();
  }
}

try {
  train("quick.ail", "--out", "a");
  train("quick.ail", "--out", "b", "--seed", "7", "--set", "lr=0.25");
  const board = start("board", "--port", "0", "--json");
  const port = Number(new URL(JSON.parse(await firstLine(board)).url).port);
  await guarded(port);
  // A port in use is one clear message.
  assert.throws(() => execFileSync(tern, ["board", "--port", String(port)], { env, stdio: "pipe" }), (error) =>
    error.status === 1 && /E_BOARD/.test(String(error.stderr)));
  await look(port);
  board.kill("SIGTERM");
  await new Promise((done) => board.once("exit", (code) => { assert.equal(code, 0); done(); }));
  console.log("board: list, run, live, comparison, graph, refusals");
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
