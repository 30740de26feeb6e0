import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cpuMs } from "./process.mjs";
import { worker } from "./subjects.mjs";

/** How often a request repeats its operation. */
const REPEATS = 400;
const REQUESTS = 3;
const ROUNDS = 15;
/** The cheapest blocks are those that other programs disturbed least. */
const QUARTER = 0.25;

const FLAGS = ["nodejs_compat", "enable_request_signal", "no_nodejs_global_timers", "new_module_registry"];

/** Measures the CPU time of single calls into the runtime, each in a loop, in microseconds. */
export async function run() {
  const contents = readFileSync(join(import.meta.dirname, "operations-worker.mjs"), "utf8");
  const subject = await worker("operations", {
    modules: [{ type: "ESModule", path: "operations-worker.mjs", contents }],
    compatibilityDate: "2026-09-01",
    compatibilityFlags: FLAGS,
  });
  const address = `http://127.0.0.1:${subject.port}`;
  const ask = async (name) => {
    const headers = { authorization: "Bearer sk-bench", accept: "application/json" };
    const query = new URLSearchParams({ name, repeats: String(REPEATS) });
    const response = await fetch(`${address}/?${query}`, { method: "POST", body: "text", headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${text}`);
  };
  const block = async (name) => {
    for (let request = 0; request < REQUESTS; request += 1) await ask(name);
  };
  try {
    const names = await (await fetch(`${address}/names`)).json();
    const costs = new Map(names.map((name) => [name, []]));
    for (const name of names) await block(name);
    for (let round = 0; round < ROUNDS; round += 1) {
      // Collects the garbage of the last operation, which would count for the first one.
      await block(names[0]);
      for (const name of names) {
        const before = cpuMs(subject.pid);
        await block(name);
        costs.get(name).push(((cpuMs(subject.pid) - before) * 1000) / REPEATS / REQUESTS);
      }
    }
    const low = (name) => costs.get(name).sort((a, b) => a - b)[Math.floor(ROUNDS * QUARTER)];
    const [nothing] = names;
    for (const name of names) console.log(`${(low(name) - low(nothing)).toFixed(2).padStart(8)} µs  ${name}`);
  } finally {
    await subject.close();
  }
}
