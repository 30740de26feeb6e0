import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildWorker } from "../../scripts/build-worker.mjs";
import { cacheFolder } from "../../scripts/development.mjs";
import { buildBundles } from "../../test/support/bundle.ts";
import { debuggerAt, Inspector } from "../../test/support/inspector.ts";
import { start, tell } from "./process.mjs";
import { gatewayOnWorkerd, LIMITED_KEY, PATH } from "./subjects.mjs";
import { WORKLOADS } from "./workloads.mjs";

const SAMPLE_US = 100;
const TOP = 40;

/**
 * Profiles the gateway on workerd under one workload. Writes a CPU profile for browser developer tools, and prints the time
 * per function. The profiler doubles the absolute times, so only the shares are meaningful.
 *
 * @param {{ workload?: number, seconds?: number, limits?: boolean, model?: string }} [options] `workload`: its number, default 32 parallel
 *   whole answers; `limits`: uses a rate-limited key; `model`: the model that is asked for
 */
export async function run({ workload = 1, seconds = 6, limits = false, model } = {}) {
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const bundle = await readableBuild();
  const gateway = await gatewayOnWorkerd(upstream.ready, {
    bundle,
    settings: { inspectorPort: 0 },
    limited: limits,
  });
  try {
    const { name, job } = WORKLOADS[workload];
    const ask = (count) =>
      tell(load.child, {
        ...job,
        count,
        port: gateway.port,
        path: PATH,
        model,
        ...(limits && { key: LIMITED_KEY }),
      });
    await ask(Math.min(job.count, 800));
    const inspector = await Inspector.connect(
      await debuggerAt(await gateway.miniflare.getInspectorURL(), /user:subject$/),
    );
    await inspector.call("Profiler.enable");
    await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await inspector.call("Profiler.start");
    const until = Date.now() + seconds * 1000;
    let requests = 0;
    while (Date.now() < until) {
      await ask(job.count);
      requests += job.count;
    }
    await sleep(800);
    const { profile } = await inspector.call("Profiler.stop");
    inspector.close();
    const file = join(cacheFolder, "profiles", `${Date.now()}.cpuprofile`);
    mkdirSync(join(cacheFolder, "profiles"), { recursive: true });
    writeFileSync(file, JSON.stringify(profile));
    console.log(`\n${name}: ${requests} requests, written to ${file}`);
    print(profile, requests);
  } finally {
    await gateway.close();
    upstream.child.disconnect();
    load.child.disconnect();
  }
}

/** Builds the gateway's Worker with the names of the source. */
async function readableBuild() {
  const { gateway } = await buildBundles();
  const folder = join(cacheFolder, "profiles", "build");
  await buildWorker({ folder, readable: true });
  return { ...gateway, folder };
}

/** Prints self times and inclusive times by function, as shares of the busy time. */
function print({ nodes, samples, timeDeltas }, requests) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const own = new Map();
  for (const [at, id] of samples.entries()) own.set(id, (own.get(id) ?? 0) + timeDeltas[at]);
  const nameOf = ({ callFrame: { functionName, url, lineNumber } }) =>
    `${functionName || "(anonymous)"}${url === "" ? "" : ` :${lineNumber + 1}`}`;
  const self = new Map();
  const inclusive = new Map();
  let busy = 0;
  for (const [id, us] of own) {
    const name = nameOf(byId.get(id));
    if (name === "(idle)") continue;
    busy += us;
    self.set(name, (self.get(name) ?? 0) + us);
    const seen = new Set();
    for (let each = id; each !== undefined; each = parents.get(each)) {
      const above = nameOf(byId.get(each));
      if (seen.has(above)) continue;
      seen.add(above);
      inclusive.set(above, (inclusive.get(above) ?? 0) + us);
    }
  }
  console.log(`busy ${(busy / 1000 / requests).toFixed(3)} ms a request, profiler included`);
  for (const [title, times] of [
    ["self", self],
    ["inclusive", inclusive],
  ]) {
    console.log(`\n${title}`);
    for (const [name, us] of [...times].sort((a, b) => b[1] - a[1]).slice(0, TOP)) {
      console.log(
        `${((us / busy) * 100).toFixed(1).padStart(6)} %  ${(us / requests).toFixed(1).padStart(7)} µs  ${name}`,
      );
    }
  }
}
