// Times the thumbnail service against a plain capture with the same library and browser, and measures its memory.
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allowPrivateHosts } from "../scripts/development.mjs";
import { ensureBrowser } from "../scripts/ensure-browser.mjs";
import { debuggerAt, liveHeap } from "../test/support/inspector.ts";
import { browserCounts, html, serve } from "../test/support/pages.ts";
import { startBare } from "./bare-capture.mjs";
import { median } from "./figures.mjs";
import { cpuMs } from "./gateway/process.mjs";
import { gatewayOnWorkerd } from "./gateway/subjects.mjs";
import { startKept } from "./kept-capture.mjs";
import { memoryByKind, printMemory } from "./memory.mjs";

const TABS = 4;
/** Calls per client: the maximum of the rate limit. */
const CALLS = 90;
/** Time in which the browser cleans up after a page. */
const LEFT_BEHIND_MS = 3_000;

/**
 * @typedef {object} Bench
 * @property {boolean} quick fewer rounds, for a quick check
 * @property {(settings?: object) => Promise<Service>} start starts a gateway with these runtime settings
 * @property {() => string} address returns the URL of a page that was not requested before
 *
 * @typedef {object} Service
 * @property {import("miniflare").Miniflare} miniflare
 * @property {number} port
 * @property {number} pid
 * @property {(query: Record<string, string>) => Promise<ArrayBuffer>} ask requests a picture
 * @property {() => Promise<void>} close
 */

/** Parts of the benchmark; `only` selects one. */
const PARTS = { capture, kept, crowd, memory };

/**
 * Prints the times of captures and of cached images, of 20 parallel requests, and memory over many captures.
 *
 * @param {{ quick?: boolean, only?: string }} options
 */
export async function run({ quick = false, only } = {}) {
  if ((await ensureBrowser()) === null) throw new Error("There is no browser on this machine.");
  const site = await serve(page);
  allowPrivateHosts(site.host);
  const vars = {
    GATEWAY_DEVELOPMENT: "true",
    CLIENT_ADDRESS_HEADER: "x-client-address",
    PAGE_PRIVATE_HOSTS: site.host,
    PAGE_RATE_LIMIT: "100",
    DNS_OVER_HTTPS_URL: "off",
    BROWSER_MAX_TABS: String(TABS),
  };
  // Start the gateway without the test wrapper, which inspects every response.
  const start = async (settings) => {
    const gateway = await gatewayOnWorkerd(1, { vars, settings });
    let calls = 0;
    const ask = async (query) => {
      const client = `192.0.2.${Math.floor(calls++ / CALLS) % 250}`;
      const url = `http://127.0.0.1:${gateway.port}/v1/thumbs?${new URLSearchParams(query)}`;
      const response = await fetch(url, { headers: { "x-client-address": client } });
      const bytes = await response.arrayBuffer();
      if (response.status !== 200)
        throw new Error(`The service answered ${response.status}: ${new TextDecoder().decode(bytes)}`);
      return bytes;
    };
    return { ...gateway, ask };
  };
  let serial = 0;
  const address = () => `${site.origin}/?${serial++}`;
  const results = {};
  try {
    console.log("\nthumbnails, 320 by 240 of a page with 50 images; medians");
    for (const [name, measure] of Object.entries(PARTS)) {
      if (only === undefined || only === name) results[name] = await measure({ quick, start, address });
    }
    return results;
  } finally {
    await site.close();
  }
}

/** Pairs of captures with and without the service. The order alternates. */
async function capture({ quick, start, address }) {
  const service = await start();
  const bare = await startBare();
  try {
    const subjects = { service: () => service.ask({ url: address() }), bare: () => bare.capture(address()) };
    const times = await inTurn(subjects, 5, quick ? 10 : 60, LEFT_BEHIND_MS / 10);
    const ratio = median(times.service.map((ms, round) => ms / times.bare[round]));
    print("uncached, through the service", median(times.service), "ms");
    print("bare capture in a Worker with a warm browser", median(times.bare), "ms");
    print("ratio", median(times.service) / median(times.bare), "", 2);
    print("median of the pairs' ratios", ratio, "", 2);
    return { service: median(times.service), bare: median(times.bare), ratio };
  } finally {
    await bare.close();
    await service.close();
  }
}

/**
 * Measures the cost of a cached picture in the program: its HTTP time minus the time of a Worker that only returns the same
 * bytes from the same cache, in alternation.
 */
async function kept({ quick, start, address }) {
  const gateway = await start();
  const url = address();
  const picture = await gateway.ask({ url });
  const least = await startKept(picture);
  try {
    const plain = async () => {
      const bytes = await (await fetch(least.url)).arrayBuffer();
      if (bytes.byteLength !== picture.byteLength) throw new Error("The Worker answered something else.");
    };
    const service = () => gateway.ask({ url });
    const times = await inTurn({ service, plain }, 50, quick ? 100 : 400);
    const inProgram = median(times.service.map((ms, round) => ms - times.plain[round]));
    print(`kept from before, ${picture.byteLength} bytes`, median(times.service), "ms", 2);
    print("the same from the cache by a Worker that does nothing else", median(times.plain), "ms", 2);
    print("difference: in the program", inProgram, "ms", 2);
    const cpu = {
      service: await cpuOf(gateway.pid, service, quick ? 100 : 400),
      plain: await cpuOf(least.pid, plain, quick ? 100 : 400),
    };
    print("CPU of the runtime, for each", cpu.service, "ms", 2);
    print("of the Worker that does nothing else", cpu.plain, "ms", 2);
    return { kept: median(times.service), plain: median(times.plain), inProgram, cpu };
  } finally {
    await least.close();
    await gateway.close();
  }
}

async function crowd({ start, address }) {
  const gateway = await start();
  try {
    await gateway.ask({ url: address() });
    const since = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => gateway.ask({ url: address() })));
    const concurrent = performance.now() - since;
    const { mostOpen } = await browserCounts(gateway, "subject");
    print(`20 at once, in ${mostOpen} of ${TABS} tabs`, concurrent, "ms");
    if (mostOpen > TABS) throw new Error("There were more tabs open than allowed.");
    return concurrent;
  } finally {
    await gateway.close();
  }
}

/**
 * Memory of browser and gateway after each tenth of the captures, when the last page is closed. Uses its own gateway,
 * because a debugger slows the runtime down.
 */
async function memory({ quick, start, address }) {
  const gateway = await start({ inspectorPort: 0 });
  try {
    const captures = quick ? 100 : 500;
    const samples = [];
    for (let done = TABS; done <= captures; done += TABS) {
      await Promise.all(Array.from({ length: TABS }, () => gateway.ask({ url: address() })));
      if (done % (captures / 10) < TABS) samples.push(await settled(gateway));
    }
    printMemory(`after each ${captures / 10} of ${captures} captures`, samples);
    return samples;
  } finally {
    await gateway.close();
  }
}

async function settled({ miniflare, port }) {
  await sleep(LEFT_BEHIND_MS);
  const held = memoryByKind();
  const rouse = () => fetch(`http://127.0.0.1:${port}/healthz`).then((response) => response.text());
  const heap = await liveHeap(await debuggerAt(await miniflare.getInspectorURL(), /subject/), rouse);
  return { ...held, "gateway, live heap": heap / 2 ** 20 };
}

/**
 * Times the subjects in alternation, with a pause after each. The first `warm` rounds do not count. Milliseconds by name.
 */
async function inTurn(subjects, warm, rounds, pauseMs = 0) {
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  const all = Object.entries(subjects);
  for (let round = -warm; round < rounds; round++) {
    for (const [name, work] of round % 2 === 0 ? all : all.toReversed()) {
      const since = performance.now();
      await work();
      if (round >= 0) times[name].push(performance.now() - since);
      // The pause keeps background work of one subject out of the next one's time.
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
  return times;
}

/** CPU milliseconds of a process per piece of work, averaged over `count`. */
async function cpuOf(pid, work, count) {
  const before = cpuMs(pid);
  for (let done = 0; done < count; done++) await work();
  return (cpuMs(pid) - before) / count;
}

/** A typical page: style, text, scripts and 50 images. */
function page(_request, response, { pathname }) {
  if (pathname.endsWith(".svg")) {
    const hue = Number.parseInt(pathname.slice(1), 10) * 7;
    response.setHeader("content-type", "image/svg+xml");
    response.end(
      `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="150"><rect width="200" height="150" fill="hsl(${hue} 60% 60%)"/><circle cx="100" cy="75" r="50" fill="white"/></svg>`,
    );
    return;
  }
  const image = (_, index) =>
    `<figure><img src="/${index}.svg" width="200" height="150" alt=""><figcaption>Picture ${index}</figcaption></figure>`;
  html(
    response,
    `<h1>Fifty pictures</h1><p>${"Some text that has to be laid out as well. ".repeat(40)}</p><main>${Array.from({ length: 50 }, image).join("")}</main>`,
    "<style>body{font:16px sans-serif}main{display:flex;flex-wrap:wrap;gap:12px}figure{margin:0}</style>",
  );
}

function print(name, value, unit, digits = 0) {
  console.log(`${name.padEnd(60)} ${value.toFixed(digits).padStart(8)} ${unit}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await run({
    quick: process.argv.includes("--quick"),
    only: process.argv.find((text) => Object.hasOwn(PARTS, text)),
  });
}
