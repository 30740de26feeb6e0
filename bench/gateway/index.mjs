import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { aimsOf } from "./aims.mjs";
import { heaps } from "./heap.mjs";
import { cpuMs, machineMs, rssMb, start, tell } from "./process.mjs";
import { printAims, printWorkload } from "./report.mjs";
import {
  gatewayOnDeno,
  gatewayOnWorkerd,
  NATIVE,
  NO_LIMIT,
  PATH,
  peerOnDeno,
  peersOnWorkerd,
} from "./subjects.mjs";
import { LIVE, WORKLOADS } from "./workloads.mjs";

const median = (values) =>
  values.length === 0 ? Number.NaN : values.toSorted((a, b) => a - b)[values.length >> 1];
const percentile = (values, share) =>
  values.length === 0
    ? Number.NaN
    : values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Background work of the gateway (log, history) counts for the request. The other subjects have none. */
const BEHIND_MS = 700;
const BETWEEN_MS = 50;

/** The gateway where caller and provider speak the same protocol, with and without a limit of the accounts. */
const MODELS = { native: NATIVE, "no limit": NO_LIMIT };

/** Subjects of live streams. Further subjects would take long and give no new information. */
const STREAMS = /^(?:direct|copying loop|gateway(?!, no limit))/;

/**
 * Benchmarks the gateway against Workers that do less, interleaved in one run.
 *
 * @param {{ quick?: boolean, runtime?: "workerd" | "deno", only?: readonly number[], against?: string }} [options]
 *   `runtime`: only this runtime; `only`: numbers of the workloads; `against`: folder of another build of the gateway for the
 *   same run
 */
export async function run({ quick = false, runtime, only, against } = {}) {
  if (process.platform !== "linux") throw new Error("CPU times are read from /proc: this needs Linux");
  const on = { workerd: runtime !== "deno", deno: runtime !== "workerd" };
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const subjects = [{ name: "direct", port: upstream.ready, pid: null, close: async () => undefined }];
  const close = () => Promise.allSettled(subjects.splice(0).map((subject) => subject.close()));
  try {
    subjects.push(...(await subjectsOn(on, upstream.ready, against)));
    const rows = new Map();
    const workloads = WORKLOADS.filter((_, index) => only === undefined || only.includes(index));
    for (const workload of workloads) {
      const asked =
        workload.live === undefined ? subjects : subjects.filter(({ name }) => STREAMS.test(name));
      const others = othersShare();
      rows.set(workload.name, await measure(workload, asked, load.child, quick));
      printWorkload(workload.name, rows.get(workload.name), others());
    }
    await sleep(1_000);
    const rss = subjects.flatMap(({ name, pid }) => (pid === null ? [] : [{ name, mb: rssMb(pid) }]));
    await close();
    const live = await heaps(upstream.ready, load.child, on);
    printMemory("resident after the load", rss);
    printMemory("live heap after a forced collection", live);
    const aims = aimsOf(rows, live);
    if (aims.length > 0) printAims(aims);
    return { rows, rss, live, aims };
  } finally {
    await close();
    upstream.child.disconnect();
    load.child.disconnect();
  }
}

/** Starts measuring the machine's load. Returns a function that returns the share of other processes since then. */
function othersShare() {
  const startedAt = performance.now();
  const others = () => machineMs() - cpuMs(process.pid);
  const before = others();
  return () => {
    const all = (performance.now() - startedAt) * availableParallelism();
    return Math.max(0, (others() - before) / all);
  };
}

async function subjectsOn({ workerd, deno }, upstream, against) {
  const subjects = [];
  if (workerd) {
    subjects.push(...(await peersOnWorkerd(upstream)), await gatewayOnWorkerd(upstream));
    for (const [name, { model }] of Object.entries(MODELS))
      subjects.push({ ...(await gatewayOnWorkerd(upstream, { name: `gateway, ${name}` })), model });
  }
  if (workerd && against !== undefined) {
    const bundle = { folder: against, entry: "worker.js" };
    subjects.push(await gatewayOnWorkerd(upstream, { name: "gateway, other build", bundle }));
  }
  if (deno) {
    const gateway = await gatewayOnDeno(upstream);
    if (gateway === null) console.log("Deno: this build does not run there, left out.");
    else {
      subjects.push(await peerOnDeno(upstream), gateway);
      for (const [name, { model }] of Object.entries(MODELS))
        subjects.push({ ...(await gatewayOnDeno(upstream, { name: `gateway, ${name}, Deno` })), model });
    }
  }
  return subjects;
}

function printMemory(title, memory) {
  console.log(`\n${title}: ${memory.map(({ name, mb }) => `${name} ${mb.toFixed(0)} MB`).join(", ")}`);
}

/** Runs all rounds of one workload. Each round measures every subject; the order rotates. */
async function measure(
  {
    job,
    live,
    rounds = 4,
    quick: fewer,
    quickRounds = 2,
    warmUp: first = { count: Math.min(job.count, 200) },
  },
  subjects,
  load,
  quick,
) {
  const samples = new Map(subjects.map(({ name }) => [name, []]));
  const warmUp = { ...job, ...(quick ? { count: Math.min(job.count, 60) } : first) };
  warmUp.parallel = Math.min(warmUp.parallel, warmUp.count);
  // The first live-stream workload has warmed everything up; later ones need no warm-up.
  const cold = live === undefined || live === LIVE.live ? subjects : [];
  for (const { name, port, model } of cold) {
    await tell(load, { ...warmUp, port, model, path: PATH }).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
  for (let round = 0; round < (quick ? quickRounds : rounds); round += 1) {
    const order = subjects.map((_, index) => subjects[(index + round) % subjects.length]);
    for (const { name, port, pid, model } of order) {
      await sleep(BETWEEN_MS);
      const before = pid === null ? Number.NaN : cpuMs(pid);
      // If a machine cannot sustain the number of streams, that is a result too.
      const result = await tell(load, { ...job, ...(quick ? fewer : {}), port, model, path: PATH }).catch(
        (error) => {
          if (live === undefined) throw error;
          console.log(`\n${live} live streams, ${name}: ${error.message.trim().replace(/^.*\n/s, "")}`);
          return null;
        },
      );
      if (result === null) continue;
      if (name.startsWith("gateway")) await sleep(BEHIND_MS);
      samples.get(name).push({ ...result, cpu: pid === null ? Number.NaN : cpuMs(pid) - before });
    }
  }
  return subjects.map(({ name }) => {
    const taken = samples.get(name);
    const requests = sum(taken.map(({ total }) => total.length));
    const firsts = job.stream ? taken.flatMap(({ first }) => first) : [];
    const lags = taken.flatMap((sample) => sample.lags);
    return {
      subject: name,
      cpuMs: median(taken.map(({ cpu, total }) => cpu / total.length)),
      perSecond: requests / (sum(taken.map(({ wallMs }) => wallMs)) / 1000),
      totalMs: median(taken.flatMap(({ total }) => total)) / 1000,
      firstMs: median(firsts) / 1000,
      firstP99Ms: percentile(firsts, 0.99) / 1000,
      lagMs: median(lags) / 1000,
      lagP99Ms: percentile(lags, 0.99) / 1000,
      lagMaxMs: percentile(lags, 1) / 1000,
    };
  });
}
