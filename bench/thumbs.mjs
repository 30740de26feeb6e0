// Times the thumbnail service against a bare capture by the same library on the same browser, and watches its memory.
import { fileURLToPath } from "node:url";
import { ensureBrowser } from "../scripts/ensure-browser.mjs";
import { browserCounts, html, serve, startPageService } from "../test/support/pages.ts";
import { descendants } from "../test/support/processes.ts";
import { startBare } from "./bare-capture.mjs";
import { median, readIfExists } from "./figures.mjs";

const TABS = 4;

/**
 * Prints the times of captures and of kept images, what 20 requests at once need, and memory over many captures.
 *
 * @param {{ quick?: boolean }} options quick: fewer rounds, for a look
 * @returns {Promise<{ service: number, bare: number, ratio: number, kept: number, concurrent: number, memory: number[] }>}
 *   medians in ms, the time of 20 at once in ms, and MB of the runtime and the browser
 */
export async function run({ quick = false } = {}) {
  if ((await ensureBrowser()) === null) throw new Error("There is no browser on this machine.");
  const site = await serve(page);
  const gateway = await startPageService([site.host], { BROWSER_MAX_TABS: String(TABS) });
  const bare = await startBare();
  const ask = async (query) => {
    const response = await gateway.fetch(`/v1/thumbs?${new URLSearchParams(query)}`);
    const bytes = (await response.arrayBuffer()).byteLength;
    if (response.status !== 200) throw new Error(`The service answered ${response.status}.`);
    return bytes;
  };
  let serial = 0;
  let bareRuns = true;
  const address = () => `${site.origin}/?${serial++}`;
  try {
    const rounds = quick ? 10 : 40;
    for (let warm = 0; warm < 3; warm++) {
      await ask({ url: address() });
      await bare.capture(address());
    }
    const service = [];
    const plain = [];
    for (let round = 0; round < rounds; round++) {
      service.push(await time(() => ask({ url: address() })));
      plain.push(await time(() => bare.capture(address())));
    }
    const ratio = median(service) / median(plain);
    console.log("\nthumbnails, 320 by 240 of a page with 50 images; medians");
    print("uncached, through the service", median(service), "ms");
    print("bare capture in a Worker with a warm browser", median(plain), "ms");
    print("ratio", ratio, "", 2);

    const url = address();
    await ask({ url });
    const kept = [];
    for (let round = 0; round < rounds * 5; round++) kept.push(await time(() => ask({ url })));
    print("kept from before", median(kept), "ms", 1);

    const concurrent = await time(() =>
      Promise.all(Array.from({ length: 20 }, () => ask({ url: address() }))),
    );
    const { mostOpen } = await browserCounts(gateway);
    print(`20 at once, in ${mostOpen} of ${TABS} tabs`, concurrent, "ms");
    if (mostOpen > TABS) throw new Error("There were more tabs open than allowed.");

    const memory = [];
    const captures = quick ? 100 : 500;
    await bare.close();
    bareRuns = false;
    for (let done = 0; done < captures; done += TABS) {
      await Promise.all(Array.from({ length: TABS }, () => ask({ url: address() })));
      if (done % (captures / 10) < TABS) memory.push(residentMegabytes());
    }
    print(`memory of runtime and browser over ${captures} captures`, Math.max(...memory), "MB at most");
    console.log(`  ${memory.map(Math.round).join(" ")}`);
    return { service: median(service), bare: median(plain), ratio, kept: median(kept), concurrent, memory };
  } finally {
    if (bareRuns) await bare.close();
    await gateway.close();
    await site.close();
  }
}

/** A page as they are: style, text, scripts and 50 images. */
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

/** Resident memory of the runtime and the browser, in MB. Pages that processes share count once for each. */
function residentMegabytes() {
  return descendants()
    .map(({ pid }) => Number(/^VmRSS:\s+(\d+)/m.exec(readIfExists(`/proc/${pid}/status`))?.[1] ?? 0) / 1024)
    .reduce((sum, megabytes) => sum + megabytes, 0);
}

async function time(work) {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

function print(name, value, unit, digits = 0) {
  console.log(`${name.padEnd(52)} ${value.toFixed(digits).padStart(8)} ${unit}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await run({ quick: process.argv.includes("--quick") });
