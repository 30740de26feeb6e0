import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { convertV4MiniflareOptions, Miniflare, Response } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { allowPrivateHosts, assetsFolder, root } from "../../scripts/development.mjs";
import { ensureBrowser } from "../../scripts/ensure-browser.mjs";
import { buildBundles, modulesOf } from "../../test/support/bundle.ts";
import { readIfExists, spread } from "../figures.mjs";
import { children, cpuMs, start } from "./process.mjs";
import { PATH, variables } from "./subjects.mjs";

/** Isolates per process, for each kind of first request. `thumbs` starts one browser per isolate. */
const COPIES = { chat: 4, admin: 4, technologies: 4, thumbs: 2 };
/** History and metrics are sent half a second after a request. */
const BEHIND_MS = 800;

/**
 * Names of rows: total cost of a start, and the part that the runtime spends on compiling modules that nothing has
 * imported.
 */
const START = "start";
const UNASKED = "compiled";

/**
 * Measures the CPU cost of a new isolate before its first request, and of its first responses (workerd, kernel counters).
 * Starts a process with several isolates of one build, and subtracts the cost of empty Workers.
 *
 * @param {readonly string[]} folders builds as wrangler writes them: `NAME=FOLDER`; `NAME+FLAG=FOLDER` adds a runtime flag,
 *   `NAME!FLAG=FOLDER` removes one. The build of this tree follows
 * @param {{ rounds?: number, only?: string }} [options] `only`: the start and these first requests, by name, or `compiled`;
 *   `none`: the start alone
 */
export async function run(folders, { rounds = 5, only } = {}) {
  const upstream = await start("upstream.mjs");
  const site = await page();
  const wanted = (name) => only === undefined || only.split(",").includes(name);
  const asked = Object.keys(COPIES).filter(wanted);
  if (asked.includes("thumbs") && (await ensureBrowser()) === null) asked.splice(asked.indexOf("thumbs"), 1);
  allowPrivateHosts(site.host);
  const { gateway } = await buildBundles();
  const builds = folders.map((each) => {
    const [name, folder = name] = each.split("=");
    const [, ...flags] = name.split(/(?=[+!])/);
    return { name, modules: modulesOf({ folder, entry: "worker.js" }), folder, flags };
  });
  builds.push({ name: "this", modules: modulesOf(gateway), folder: gateway.folder, flags: [] });
  const rows = new Map();
  const add = (name, what, ms) => {
    const row = rows.get(name) ?? rows.set(name, new Map()).get(name);
    row.set(what, [...(row.get(what) ?? []), ms]);
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const empty = new Map();
      for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
        const { name, modules, folder, flags } = build;
        const idle = { folder, flags, modules: [emptyWorker(folder)] };
        const startOf = async (what) => (await measured(what, [], upstream.ready, site)).started;
        const nothing = empty.get(flags.join()) ?? (await startOf(idle));
        empty.set(flags.join(), nothing);
        const each = (started) => (started - nothing) / total(COPIES);
        const { started, answers } = await measured(build, asked, upstream.ready, site);
        add(name, START, each(started));
        if (wanted(UNASKED)) {
          const uploaded = { ...idle, modules: [...idle.modules, ...modules] };
          add(name, UNASKED, each(await startOf(uploaded)));
        }
        for (const [what, ms] of answers) add(name, what, ms);
      }
      const starts = [...rows].map(([name, row]) => `${name} ${row.get(START).at(-1).toFixed(1)} ms`);
      console.log(`round ${round + 1} of ${rounds}, starts: ${starts.join(", ")}`);
    }
  } finally {
    await site.close();
    upstream.child.disconnect();
  }
  report(rows);
  return rows;
}

const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The requests, by name. Each isolate gets each request twice. */
function requests(site) {
  const query = (serial) => new URLSearchParams({ url: `${site.origin}/?${serial}` });
  const chat = { model: "provider-v4-flash", messages: [{ role: "user", content: "Say something." }] };
  return {
    chat: () => [
      PATH,
      {
        method: "POST",
        headers: { authorization: "Bearer sk-bench", "content-type": "application/json" },
        body: JSON.stringify(chat),
      },
    ],
    admin: () => ["/admin/settings", { headers: { authorization: "Bearer admin" } }],
    technologies: (serial) => [`/v1/technologies?${query(serial)}`],
    thumbs: (serial) => [`/v1/thumbs?${query(serial)}`],
  };
}

/**
 * Starts a process with all copies of a build and sends the requests to the copies reserved for each. Returns CPU
 * milliseconds.
 */
async function measured({ modules, folder, flags }, asked, upstream, site) {
  const {
    modulesRules: _rules,
    assets: _assets,
    ...options
  } = unstable_getMiniflareWorkerOptions(join(root, "wrangler.toml")).workerOptions;
  const storage = await mkdtemp(join(tmpdir(), "bench-"));
  const names = Object.entries(COPIES).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, copy) => ({ name, worker: `${name}-${copy}` })),
  );
  const before = new Set(children());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      handleStructuredLogs: () => undefined,
      resourcePersistencePath: storage,
      workers: names.map(({ worker }) => ({
        ...options,
        compatibilityFlags: changed(options.compatibilityFlags, flags),
        name: worker,
        modules,
        modulesRoot: folder,
        bindings: {
          ...options.bindings,
          ...variables(upstream),
          ADMIN_KEY: "admin",
          PAGE_PRIVATE_HOSTS: site.host,
          DNS_OVER_HTTPS_URL: "off",
        },
        serviceBindings: { ASSETS: asset },
        unsafeDirectSockets: [{}],
      })),
    }),
  );
  try {
    await miniflare.ready;
    const pid = children().find(
      (child) => !before.has(child) && readIfExists(`/proc/${child}/comm`).startsWith("workerd"),
    );
    // Wait for startup work that continues after the sockets open.
    await sleep(200);
    const started = cpuMs(pid);
    const answers = [];
    for (const what of asked) {
      const workers = names.filter(({ name }) => name === what).map(({ worker }) => worker);
      for (const time of ["first", "next"]) {
        const mark = cpuMs(pid);
        for (const [copy, worker] of workers.entries()) {
          const [path, init] = requests(site)[what](`${copy}${time}`);
          const response = await fetch(new URL(path, await miniflare.unsafeGetDirectURL(worker)), init);
          const text = await response.text();
          if (response.status !== 200) throw new Error(`${what} was answered ${response.status}: ${text}`);
        }
        await sleep(BEHIND_MS);
        answers.push([`${what}, ${time} request`, (cpuMs(pid) - mark) / workers.length]);
      }
    }
    return { started, answers };
  } finally {
    await miniflare.dispose();
    await rm(storage, { recursive: true, force: true });
  }
}

/** Adds runtime flags (`+FLAG`) and removes some (`!FLAG`). */
function changed(flags, changes) {
  const some = (sign) => changes.filter((change) => change.startsWith(sign)).map((change) => change.slice(1));
  const without = some("!");
  return [...flags.filter((flag) => !without.includes(flag)), ...some("+")];
}

/** Serves the static files of the Worker's asset binding. */
function asset(request) {
  const text = readIfExists(join(assetsFolder, decodeURIComponent(new URL(request.url).pathname)));
  return new Response(text, { status: text === "" ? 404 : 200 });
}

/** A Worker with Durable Objects of the same names but without content. */
function emptyWorker(folder) {
  const { durableObjects = {} } = unstable_getMiniflareWorkerOptions(
    join(root, "wrangler.toml"),
  ).workerOptions;
  const names = Object.values(durableObjects).map((object) => object.className ?? object);
  const contents = [
    'import { DurableObject } from "cloudflare:workers";',
    ...names.map((name) => `export class ${name} extends DurableObject {}`),
    'export default { fetch: () => new Response("ok") };',
  ].join("\n");
  return { type: "ESModule", path: join(folder, "empty.js"), contents };
}

/** Serves a page for the page service. */
async function page() {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      "<!doctype html><html><head><title>A page</title></head><body><h1>A page</h1><p>Some text.</p></body></html>",
    );
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const host = `127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return { origin: `http://${host}`, host, close };
}

/** Prints means, bootstrap intervals over the rounds, and ratios to the first build, which was measured in alternation. */
function report(rows) {
  const [first] = rows.values();
  for (const [name, row] of rows) {
    console.log(`\n${name}`);
    for (const [what, values] of row) {
      const times = spread(values.length, (rounds) => mean(rounds.map((round) => values[round])));
      const line = `${what.padEnd(28)} ${figures(times, 1)} ms of CPU`;
      if (row === first) {
        console.log(line);
        continue;
      }
      const shares = spread(
        values.length,
        (rounds) =>
          mean(rounds.map((round) => values[round])) / mean(rounds.map((round) => first.get(what)[round])),
      );
      console.log(`${line}  ${figures(shares, 3)} of the first`);
    }
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const figures = ({ value, low, high }, digits) =>
  `${value.toFixed(digits).padStart(7)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
