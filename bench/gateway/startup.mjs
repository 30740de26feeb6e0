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
import { readIfExists } from "../figures.mjs";
import { children, cpuMs, start } from "./process.mjs";
import { PATH, variables } from "./subjects.mjs";

/** Isolates of one process, for each thing that is asked first. A browser is started for each of `thumbs`. */
const COPIES = { chat: 4, admin: 4, technologies: 4, thumbs: 2 };
/** History and metrics leave half a second after a request. */
const BEHIND_MS = 800;
const RESAMPLES = 1_000;

/**
 * What a new isolate costs before it serves anything, and what its first answers cost: CPU of workerd, by the kernel's count. A process
 * is started with several isolates of one build; the same with Workers that are empty is taken from it.
 *
 * @param {readonly string[]} folders builds as wrangler writes them, `NAME=FOLDER`; this tree's own comes after them
 * @param {{ rounds?: number, only?: string }} [options] `only`: these of the first requests, by name; `none`: the start alone
 */
export async function run(folders, { rounds = 5, only } = {}) {
  const upstream = await start("upstream.mjs");
  const site = await page();
  const asked = Object.keys(COPIES).filter((name) => only === undefined || only.split(",").includes(name));
  if (asked.includes("thumbs") && (await ensureBrowser()) === null) asked.splice(asked.indexOf("thumbs"), 1);
  allowPrivateHosts(site.host);
  const { gateway } = await buildBundles();
  const builds = folders.map((each) => {
    const [name, folder = name] = each.split("=");
    return { name, modules: modulesOf({ folder, entry: "worker.js" }), folder };
  });
  builds.push({ name: "this", modules: modulesOf(gateway), folder: gateway.folder });
  const empty = { name: "empty", modules: [emptyWorker(gateway.folder)], folder: gateway.folder };
  const rows = new Map();
  const add = (name, what, ms) => {
    const row = rows.get(name) ?? rows.set(name, new Map()).get(name);
    row.set(what, [...(row.get(what) ?? []), ms]);
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const none = await measured(empty, [], upstream.ready, site);
      for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
        const { started, answers } = await measured(build, asked, upstream.ready, site);
        add(build.name, "start", (started - none.started) / total(COPIES));
        for (const [what, ms] of answers) add(build.name, what, ms);
      }
    }
  } finally {
    await site.close();
    upstream.child.disconnect();
  }
  report(rows);
  return rows;
}

const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** What is asked, by name: of each isolate twice. */
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

/** Starts a process with all copies of a build, and asks those that are kept for it each thing. Milliseconds of CPU. */
async function measured({ modules, folder }, asked, upstream, site) {
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
    // What is left to do when the sockets are open.
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

/** The files beside the Worker, as its binding has them. */
function asset(request) {
  const text = readIfExists(join(assetsFolder, decodeURIComponent(new URL(request.url).pathname)));
  return new Response(text, { status: text === "" ? 404 : 200 });
}

/** A Worker with objects of the same names that holds nothing. */
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

/** A page to look at. */
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

/** Means, and bootstrapped intervals over the rounds. */
function report(rows) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  for (const [name, row] of rows) {
    console.log(`\n${name}`);
    for (const [what, values] of row) {
      const resampled = Array.from({ length: RESAMPLES }, () =>
        mean(values.map(() => values[Math.floor(Math.random() * values.length)])),
      ).toSorted((one, other) => one - other);
      const [low, high] = [0.025, 0.975].map((share) => resampled[Math.floor(RESAMPLES * share)].toFixed(1));
      console.log(`${what.padEnd(28)} ${mean(values).toFixed(1).padStart(7)} ms of CPU  (${low} to ${high})`);
    }
  }
}
