// Users without a mouse, a large window or a run yet: the empty page, the keyboard, names for
// screen readers, less motion, a phone that is touched.
import assert from "node:assert/strict";
import { inEveryView, launch, openPage, program, startBoard, test, train, url, write } from "./support.mjs";

// The whole command, which a button copies; the first run appears by itself.
async function startsEmpty(page, port) {
  await page.goto(url(port));
  await page.waitForSelector("text=No runs yet");
  const command = await page.textContent(".command pre");
  assert.match(command, /^tern train \S+\.ail --allow fileread --out \S+$/);
  await page.click("button:has-text('Copy')");
  await page.waitForSelector("button:has-text('Copied')");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
}

// What the tab key reaches, in order, until it comes round.
async function reached(page, most) {
  const out = [];
  for (let i = 0; i < most; i++) {
    await page.keyboard.press("Tab");
    out.push(await page.evaluate(() => {
      const e = document.activeElement;
      return e === document.body ? "" : e.getAttribute("aria-label") ?? (e.textContent.trim() || e.getAttribute("placeholder") || e.tagName);
    }));
    if (out.at(-1) === "") break;
  }
  return out;
}

async function obeysTheKeyboard(page, port) {
  await page.goto(url(port));
  await page.waitForSelector("tbody tr");
  const order = await reached(page, 60);
  const places = ["Skip to the content", "tern board", "Filter the runs", "Columns", "choose run 2", "choose run 1"]
    .map((name) => order.findIndex((o) => o.startsWith(name)));
  assert.ok(places.every((at) => at >= 0), JSON.stringify(order));
  assert.deepEqual(places, [...places].sort((a, b) => a - b), JSON.stringify(order));
  // The first stop leads past the head, and not to another page.
  await page.goto(url(port, "#/run/1"));
  await page.reload();
  await page.waitForSelector("h2:has-text('Run 1')");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.deepEqual(await page.evaluate(() => [document.activeElement.id, location.hash]), ["main", "#/run/1"]);
  assert.equal(await page.isVisible("h2:has-text('Run 1')"), true);
}

// Every control has a name, every picture words, every table its heads; headings leave no level out.
async function hasNames(page) {
  const nameless = await page.$$eval("a, button, input, select, textarea, [role=slider], [role=link], summary", (all) => all
    .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, []);
  const pictures = await page.$$eval("svg.chart, img", (all) => all.filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("alt") || e.querySelector("title"))).length);
  assert.equal(pictures, 0);
  const levels = await page.$$eval("h1, h2, h3, h4", (all) => all.map((h) => Number(h.tagName[1])));
  for (let i = 1; i < levels.length; i++) assert.ok(levels[i] - levels[i - 1] <= 1, levels.join());
  assert.equal(await page.getAttribute("#live", "aria-live"), "polite");
  assert.equal((await page.textContent("#live")).length > 0, true);
}

// Text is readable on its ground: the ratio that WCAG asks for, of all that is seen.
async function hasContrast(page) {
  const faint = await page.evaluate(() => {
    const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (e) => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c.length >= 3 && (c[3] ?? 1) === 1) return c; } return [255, 255, 255]; };
    return [...document.querySelectorAll("td, th, p, dt, dd, h2, h3, label, a, .status, .tag, figcaption")].filter((e) => e.checkVisibility() && e.textContent.trim() && !e.closest("[aria-disabled=true]"))
      .map((e) => { const [a, b] = [light(numbers(getComputedStyle(e).color)), light(ground(e))]; return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.slice(0, 30), e.className]; })
      .filter(([ratio]) => ratio < 4.5);
  });
  assert.deepEqual(faint, []);
}

await test(async () => {
  write("quick.ail", program(40));
  const { port, end } = await startBoard();
  const browser = await launch();
  try {
    await inEveryView(browser, port, "empty", (page) => startsEmpty(page, port), { permissions: ["clipboard-read", "clipboard-write"] });
    const first = await openPage(browser, port, { reducedMotion: "reduce" });
    await first.page.goto(url(port));
    await first.page.waitForSelector("text=No runs yet");
    train("quick.ail", "--out", "a");
    await first.page.waitForSelector("tbody tr");
    await first.close();
    train("quick.ail", "--out", "b", "--set", "lr=0.1");
    for (const hash of ["#/", "#/run/1", "#/compare/1,2", "#/sweep"]) {
      await inEveryView(browser, port, `reach${hash.replace(/\W/g, "-")}`, async (page) => {
        await page.goto(url(port, hash));
        await page.waitForSelector("h2");
        await page.waitForFunction(() => document.getElementById("live").textContent !== "");
        await hasNames(page);
        await hasContrast(page);
      });
    }
    const { page, close } = await openPage(browser, port, { viewport: { width: 1400, height: 800 } });
    await obeysTheKeyboard(page, port);
    await close();
    // A finger on a chart shows its values, and a card leads to its run.
    const phone = await openPage(browser, port, { viewport: { width: 360, height: 700 }, hasTouch: true, isMobile: true });
    await phone.page.goto(url(port));
    await phone.page.tap("tbody tr:first-child a");
    await phone.page.waitForSelector(".overlay");
    const overlay = phone.page.locator(".overlay").first();
    await overlay.scrollIntoViewIfNeeded();
    await overlay.tap();
    await phone.page.waitForSelector(".readout:not([hidden])");
    await phone.close();
  } finally {
    await browser.close();
  }
  await end();
  console.log("board: empty, by keyboard, with names and contrast, touched");
});
