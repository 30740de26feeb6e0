import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildBundles } from "../../test/support/bundle.ts";
import { start, tell } from "./process.mjs";
import { gatewayOnWorkerd, NATIVE, NO_LIMIT, PATH } from "./subjects.mjs";
import { WORKLOADS } from "./workloads.mjs";

/** History and metrics are sent half a second after a request. */
const BEHIND_MS = 1_500;

const NATIVE_WORKLOADS = WORKLOADS.slice(0, 2).flatMap(({ name, job }) => [
  { name: `${name}, natively`, job, ...NATIVE },
  { name: `${name}, natively without a limit`, job, ...NO_LIMIT },
]);

/**
 * Prints how often a request calls into the runtime, from its arrival to the end of its background work. Unlike times,
 * counts are the same on every machine.
 */
export async function run() {
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const folder = mkdtempSync(join(tmpdir(), "counted-"));
  const { gateway: build } = await buildBundles();
  cpSync(build.folder, folder, { recursive: true });
  for (const name of ["counted.mjs", "counting.mjs"])
    cpSync(join(import.meta.dirname, name), join(folder, name));
  const gateway = await gatewayOnWorkerd(upstream.ready, { bundle: { folder, entry: "counted.mjs" } });
  const take = async () => (await fetch(`http://127.0.0.1:${gateway.port}/__counts`)).json();
  try {
    for (const { name, job, model } of [...WORKLOADS.slice(0, 3), ...NATIVE_WORKLOADS]) {
      const ask = (count) => tell(load.child, { ...job, model, count, port: gateway.port, path: PATH });
      await ask(Math.max(40, job.parallel));
      await sleep(BEHIND_MS);
      await take();
      await ask(job.count);
      await sleep(BEHIND_MS);
      const { requests, ...counts } = await take();
      console.log(`\n${name}, for each request`);
      const each = Object.entries(counts).map(([call, count]) => [call, count / requests]);
      for (const [call, count] of each.sort((a, b) => b[1] - a[1])) {
        if (count >= 0.005) console.log(`${count.toFixed(2).padStart(8)}  ${call}`);
      }
    }
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
    upstream.child.disconnect();
    load.child.disconnect();
  }
}
