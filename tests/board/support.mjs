// What the tests of the board in a browser share: a history, a board that serves it, a browser that
// complains of nothing and asks nobody else, and the sizes and colours that every page is looked at in.
//
//   node NAME.mjs TERN NODE_MODULES CHROMIUM [FOLDER FOR PICTURES]
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";

export const [tern, modules, browserPath, pictures] = process.argv.slice(2).map((x) => resolve(x));
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
export const folder = mkdtempSync(join(tmpdir(), "tern-board-"));
export const env = { ...process.env, XDG_DATA_HOME: folder, HOME: folder };
const children = [];
const HANG = 120000;   // milliseconds: only what hangs takes so long

// ---- runs ----

export const program = (steps, extra = "") => `model {
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
export const write = (name, text) => writeFileSync(join(folder, name), text);
write("rows.jsonl", Array.from({ length: 24 }, (_, i) =>
  JSON.stringify({ tokens: [i % 20, (i % 2) * 20 + 1, (i % 2) * 20 + 2], label: i % 2 })).join("\n") + "\n");

export const call = (...words) => execFileSync(tern, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
export const train = (file, ...options) => call("train", file, "--allow", "fileread", "-q", ...options);
export function start(...words) {
  const child = spawn(tern, words, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  return child;
}

// ---- the board ----

const firstLine = (child) => new Promise((done) => child.stdout.once("data", (data) => done(String(data).split("\n")[0])));

export async function startBoard(wanted = 0) {
  const board = start("board", "--port", String(wanted), "--json");
  const port = Number(new URL(JSON.parse(await firstLine(board)).url).port);
  const end = () => new Promise((done) => {
    board.once("exit", (code) => { assert.equal(code, 0); done(); });
    board.kill("SIGTERM");
  });
  return { port, end };
}

// A request with headers that a browser would not let a page set.
export const ask = (port, path, { method = "GET", headers = {}, body } = {}) => new Promise((done, failed) => {
  const r = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
    let text = "";
    answer.on("data", (part) => { text += part; }).on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: text }));
  });
  r.on("error", failed).end(body);
});

// ---- the browser ----

export const launch = () => chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
  "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

// A page that notes what the browser complains of, and what it asks of others.
export async function openPage(browser, port, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [], foreign = [];
  page.setDefaultTimeout(HANG);
  // 503: somebody held the history for a moment, and the page asks again.
  const counts = (message) => ["error", "warning"].includes(message.type()) && !message.text().includes("503");
  page.on("console", (message) => { if (counts(message)) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (r) => { if (!r.url().startsWith(`http://127.0.0.1:${port}/`)) foreign.push(r.url()); });
  const close = async (expected = () => false) => {
    assert.deepEqual(complaints.filter((text) => !expected(text)), []);
    assert.deepEqual(foreign, []);
    await context.close();
  };
  return { page, context, close };
}

export const url = (port, hash = "#/") => `http://127.0.0.1:${port}/${hash}`;
export async function picture(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
export const isPhone = (page) => page.viewportSize().width < 640;

// A page as phones, small windows and large ones show it, in both colours. Nothing is wider than the window.
// Each view begins with an empty page, and nothing is kept from the one before.
export async function inEveryView(browser, port, name, look, options = {}) {
  const { page, close } = await openPage(browser, port, options);
  for (const width of [360, 800, 1400]) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await look(page, { width, colorScheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 1, `${name} at ${width} pixels is ${wide} too wide`);
      await picture(page, `${name}-${width}-${colorScheme}`);
      await page.evaluate(() => localStorage.clear());
      await page.goto("about:blank");
    }
  }
  await close();
}

// Runs a test, and leaves nothing behind.
export async function test(body) {
  try {
    await body();
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
