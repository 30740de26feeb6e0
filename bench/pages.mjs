// Measures whether one client can delay the captures of another, and whether captures leak memory.
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allowPrivateHosts } from "../scripts/development.mjs";
import { ensureBrowser } from "../scripts/ensure-browser.mjs";
import { startGateway } from "../test/support/gateway.ts";
import { html, serve } from "../test/support/pages.ts";
import { median, readIfExists } from "./figures.mjs";
import { memoryByKind, printMemory } from "./memory.mjs";

/** Time in which the browser cleans up after a page. */
const LEFT_BEHIND_MS = 2_000;

/** Harmful pages, each of a different kind. */
const BAD = {
  "/busy": "<script>while (true) {}</script>",
  "/busy-later": "<p>Hello</p><script>onload = () => setTimeout(() => { while (true) {} })</script>",
  "/refresh": '<meta http-equiv="refresh" content="0">',
  "/leaves": "<script>location.search = Math.random()</script>",
  "/alerts": "<script>while (true) alert(1)</script>",
  "/workers": `<script>
    const source = URL.createObjectURL(new Blob(["while (true) {}"]));
    for (let n = 0; n < 4; n++) new Worker(source);
  </script>`,
  "/fetches":
    "<script>const go = () => fetch('/?' + Math.random()).finally(go); for (let n = 0; n < 20; n++) go()</script>",
  "/grows":
    "<script>const all = []; setInterval(() => all.push(new Array(1e6).fill(Math.random())), 5)</script>",
  "/slices":
    "<script>setInterval(() => { for (const end = Date.now() + 200; Date.now() < end; ); })</script>",
  "/frames":
    "<script>for (let n = 0; n < 2000; n++) document.body.append(document.createElement('iframe'))</script>",
  "/nests": `<script>document.body.innerHTML = "<div>".repeat(2e5) + "deep"</script>`,
};

/**
 * Prints the time of an ordinary capture alone and while another client loads 40 harmful pages at once. With `only:
 * "memory"` prints the memory of gateway and browser after 50 captures and after the last.
 *
 * @param {{ quick?: boolean, only?: string }} options quick: 100 captures instead of 500
 */
export async function run({ quick = false, only } = {}) {
  if ((await ensureBrowser()) === null) throw new Error("There is no browser on this machine.");
  const site = await serve((request, response, { pathname }) => {
    if (pathname === "/silent") return;
    if (pathname === "/drips") {
      response.writeHead(200, { "content-type": "text/html" });
      const timer = setInterval(() => response.write(" "), 500);
      request.once("close", () => clearInterval(timer));
      return;
    }
    if (pathname === "/around") {
      response.writeHead(302, { location: `/around?${Math.random()}` });
      return response.end();
    }
    if (pathname === "/huge") {
      response.writeHead(200, { "content-type": "text/html" });
      const piece = Buffer.alloc(1e6, "<p>x ");
      const more = () => {
        while (response.writable && response.write(piece));
      };
      response.on("drain", more);
      return more();
    }
    html(response, BAD[pathname] ?? `<h1>An ordinary page</h1><p>${"Some text. ".repeat(300)}</p>`);
  });
  allowPrivateHosts(site.host);
  const vars = { PAGE_PRIVATE_HOSTS: site.host, PAGE_RATE_LIMIT: "1000000", DNS_OVER_HTTPS_URL: "off" };
  // A debugger slows the runtime down, so do not use one where time is measured.
  const gateway = await startGateway({ vars, inspected: only === "memory" });
  let serial = 0;
  const capture = async (path, client, more = {}) => {
    const query = new URLSearchParams({ url: `${site.origin}${path}?${serial++}`, ...more });
    const headers = { "cf-connecting-ip": client };
    const response = await fetch(new URL(`/v1/thumbs?${query}`, gateway.url), { headers });
    await response.arrayBuffer();
    return { status: response.status, steps: response.headers.get("server-timing") ?? "" };
  };
  const ordinary = async () => {
    const since = performance.now();
    const { status, steps } = await capture("/ordinary", "192.0.2.1");
    if (status !== 200) throw new Error(`An ordinary capture was answered ${status}.`);
    return { ms: performance.now() - since, steps };
  };
  try {
    for (let warm = 0; warm < 5; warm++) await ordinary();
    if (only === "memory") return { memory: await remembered(ordinary, quick ? 100 : 500, gateway) };
    return { crowd: await crowded(ordinary, (path, more) => capture(path, "198.51.100.1", more)) };
  } finally {
    await gateway.close();
    await site.close();
  }
}

/** Times ordinary captures, alone and beside harmful pages, and prints where the slowest spent its time. */
async function crowded(ordinary, capture) {
  const usual = [];
  for (let round = 0; round < 20; round++) usual.push((await ordinary()).ms);
  const kinds = [...Object.keys(BAD), "/silent", "/drips", "/around", "/huge"];
  let isOver = false;
  const statuses = {};
  const cpu = cpuTimes();
  const bad = Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      // Every third request also asks for the longest possible delay.
      const { status } = await capture(kinds[index % kinds.length], index % 3 === 0 ? { delay: "10" } : {});
      statuses[status] = (statuses[status] ?? 0) + 1;
    }),
  ).then(() => {
    isOver = true;
  });
  const since = performance.now();
  const meanwhile = [];
  while (!isOver && performance.now() - since < 90_000) {
    const at = performance.now() - since;
    meanwhile.push({ at, ...(await ordinary()) });
  }
  const { idle, all } = cpuTimes();
  const times = meanwhile.map(({ ms }) => ms).sort((a, b) => a - b);
  const ratios = [0.5, 0.95, 1].map((share) => atShare(times, share) / median(usual));
  console.log("\nan ordinary capture; medians");
  print("by itself", median(usual), "ms");
  print("  the slowest of 20", Math.max(...usual), "ms");
  print(`while another client has 40 bad pages (${times.length} captures)`, median(times), "ms");
  for (const [index, name] of ["p50", "p95", "the slowest of them"].entries()) {
    print(`  ${name}, times the usual`, ratios[index], "", 2);
  }
  print("  processor time that was left meanwhile", ((idle - cpu.idle) / (all - cpu.all)) * 100, "%");
  console.log("  where the time of the slowest went, ms:");
  for (const { at, ms, steps } of meanwhile.toSorted((a, b) => b.ms - a.ms).slice(0, 10)) {
    console.log(
      `    ${Math.round(ms)}, ${(at / 1_000).toFixed(1)} s after the beginning: ${steps.replaceAll(";dur=", " ")}`,
    );
  }
  await bad;
  console.log(
    `  the bad pages were answered ${JSON.stringify(statuses)} within ${Math.round((performance.now() - since) / 1_000)} s`,
  );
  return { usual: median(usual), meanwhile: median(times), ratios };
}

/** Returns the quantile `share` of sorted numbers. */
function atShare(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** CPU time of the machine since its start, in clock ticks. */
function cpuTimes() {
  const [, ...times] = readIfExists("/proc/stat").split("\n", 1)[0].split(/ +/).map(Number);
  const [, , , idle = 0, waiting = 0] = times;
  return { idle: idle + waiting, all: times.slice(0, 8).reduce((sum, time) => sum + time, 0) };
}

/** Memory of browser and gateway after every 50 sequential captures. */
async function remembered(ordinary, count, gateway) {
  const samples = [];
  for (let done = 1; done <= count; done++) {
    await ordinary();
    if (done % 50 !== 0) continue;
    // Wait until the last page is closed.
    await sleep(LEFT_BEHIND_MS);
    samples.push({ ...memoryByKind(), "gateway, live heap": (await gateway.heap()) / 2 ** 20 });
  }
  printMemory(`after each 50 of ${count} captures`, samples);
  return samples;
}

function print(name, value, unit, digits = 0) {
  console.log(`${name.padEnd(64)} ${value.toFixed(digits).padStart(8)} ${unit}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await run({
    quick: process.argv.includes("--quick"),
    only: process.argv.find((text) => /^(?:crowd|memory)$/.test(text)),
  });
}
