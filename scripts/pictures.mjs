// Regenerates the pictures of the README and the tutorial (`npm run pictures`, or one of them: `npm run pictures -- recording`). Starts the gateway with
// the sandbox, sends traffic, takes screenshots with a browser and with the gateway's own page service, and records the console.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { freePort } from "../test/support/free-port.ts";
import { root } from "./development.mjs";
import { browserExecutable } from "./ensure-browser.mjs";
import { recordConsole } from "./record-console.mjs";

const folder = join(root, "docs", "pictures");
const START_MS = 180_000;
/** Duration of the traffic. Shorter traffic would leave the charts empty. */
const TRAFFIC_MS = 300_000;

/** How long the charts of another range take at most. */
const CHARTS_MS = 5_000;

/** Requests in common API styles. Sandbox directives make some answers slow and some fail. */
const ASKED = [
  ["/v1/chat/completions", (text) => ({ model: "gpt-4o", messages: [{ role: "user", content: text }] })],
  ["/v1/responses", (text) => ({ model: "gpt-5-codex", input: text })],
  [
    "/anthropic/v1/messages",
    (text) => ({
      model: "claude-sonnet-5",
      max_tokens: 500,
      messages: [{ role: "user", content: text }],
    }),
  ],
];
const TEXTS = [
  "Name three rivers of Europe.",
  "[[slow:60]] Tell me how a lock on a canal works.",
  "[[slow:120]] [[big:3000]] Write the minutes of our meeting.",
  "What is a lease?",
];
const FAILING = "[[status:400:invalid_request]] This one fails.";
/** One request in 23 fails. */
const FAILS = 23;

/** Not the development key, because the console shows a warning for it. */
const ADMIN_KEY = "for-a-picture";

async function started(url) {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    const answer = await fetch(`${url}/healthz`).catch(() => null);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error("The gateway did not start.");
}

/** Sends one request. Failures are part of the picture. */
async function ask(url, turn) {
  const [path, body] = ASKED[turn % ASKED.length];
  const text = turn % FAILS === FAILS - 1 ? FAILING : TEXTS[turn % TEXTS.length];
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
    body: JSON.stringify({ ...body(text), stream: turn % 2 === 0 }),
  });
  await answer.text();
}

async function traffic(url) {
  const end = Date.now() + TRAFFIC_MS;
  const asked = [];
  for (let turn = 0; Date.now() < end; turn += 1) {
    asked.push(ask(url, turn).catch(() => undefined));
    await sleep(200 + (turn % 7) * 150);
  }
  await Promise.all(asked);
}

/** Calls `show` with a page of the console after sign-in. */
async function withConsole(url, show) {
  const browser = await chromium.launch({ executablePath: browserExecutable() ?? "" });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-GB" });
    await page.goto(`${url}/admin`);
    await page.getByLabel("Admin key or password").fill(ADMIN_KEY);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByText("Slots in use").waitFor();
    await show(page);
  } finally {
    await browser.close();
  }
}

/** Takes a screenshot of the console while requests arrive. */
async function pictureOfConsole(page, file) {
  const busy = traffic(url);
  await sleep(TRAFFIC_MS - 2 * CHARTS_MS);
  // Select the shortest range of the charts.
  const shortest = page.getByRole("button", { name: /^\d+ min$/ }).first();
  if (await shortest.isVisible()) await shortest.click();
  await page.mouse.move(0, 0);
  await sleep(CHARTS_MS);
  await page.screenshot({ path: file, type: "jpeg", quality: 78 });
  await busy;
}

/** Takes a thumbnail of the public page with the page service itself. */
async function pictureByPageService(url, file) {
  const query = new URLSearchParams({ url: `${url}/`, size: "og", format: "jpg", quality: "75" });
  const answer = await fetch(`${url}/v1/thumbs?${query}`);
  if (!answer.ok) throw new Error(`The page service answers ${answer.status}: ${await answer.text()}`);
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
}

const PICTURES = {
  thumbnail: ["thumbnail.jpg", (file) => pictureByPageService(url, file)],
  console: ["console.jpg", (file) => withConsole(url, (page) => pictureOfConsole(page, file))],
  recording: ["console.webp", (file) => withConsole(url, (page) => recordConsole(page, file))],
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PICTURES);

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const state = mkdtempSync(join(tmpdir(), "polygate-pictures-"));
const gateway = spawn(
  process.execPath,
  [
    join(root, "scripts", "start.mjs"),
    ...["--port", String(port), "--persist-to", state],
    ...["--var", `PAGE_PRIVATE_HOSTS:127.0.0.1:${port}`, "--var", `ADMIN_KEY:${ADMIN_KEY}`],
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
try {
  mkdirSync(folder, { recursive: true });
  await started(url);
  for (const name of wanted) {
    const [fileName, take] = PICTURES[name];
    const file = join(folder, fileName);
    await take(file);
    console.log(`docs/pictures/${fileName}: ${Math.round(statSync(file).size / 1024)} KB`);
  }
} finally {
  gateway.kill("SIGTERM");
  await new Promise((ended) => gateway.on("exit", ended));
  rmSync(state, { recursive: true, force: true });
}
