import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, rssMb, start } from "./process.mjs";
import { printAims, printWorkload } from "./report.mjs";
import { denoSubjects, PATH, workerdSubjects } from "./subjects.mjs";
import { WORKLOADS } from "./workloads.mjs";

const median = (values) =>
  values.length === 0 ? Number.NaN : values.toSorted((a, b) => a - b)[values.length >> 1];
const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** What the gateway does behind the answer (the log, the history) belongs to the request; the others do nothing there. */
const BEHIND_MS = 800;
const BETWEEN_MS = 100;

/**
 * Measures the gateway beside Workers that do less, interleaved in one run.
 *
 * @param {{ quick?: boolean, runtime?: "workerd" | "deno", only?: readonly number[] }} [options] `runtime`: this one alone;
 *   `only`: numbers of the workloads
 */
export async function run({ quick = false, runtime, only } = {}) {
  if (process.platform !== "linux") throw new Error("CPU times are read from /proc: this needs Linux");
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const subjects = [{ name: "direct", port: upstream.ready, pid: null, close: async () => undefined }];
  try {
    if (runtime !== "deno") subjects.push(...(await workerdSubjects(upstream.ready)));
    if (runtime !== "workerd") {
      const deno = await denoSubjects(upstream.ready);
      if (deno.length === 0) console.log("Deno: this build does not run there, left out.");
      subjects.push(...deno);
    }
    const rows = new Map();
    const workloads = WORKLOADS.filter((_, index) => only === undefined || only.includes(index));
    for (const workload of workloads) {
      rows.set(workload.name, await measure(workload, subjects, load.child, quick));
      printWorkload(workload.name, rows.get(workload.name));
    }
    await sleep(1_000);
    const memory = subjects.flatMap(({ name, pid }) => (pid === null ? [] : [{ name, mb: rssMb(pid) }]));
    console.log(
      `\nmemory after the load: ${memory.map(({ name, mb }) => `${name} ${mb.toFixed(0)} MB`).join(", ")}`,
    );
    const aims = aimsOf(rows, memory, subjects);
    if (aims.length > 0) printAims(aims);
    return { rows, memory, aims };
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.close()));
    upstream.child.disconnect();
    load.child.disconnect();
  }
}

function send(child, job) {
  return new Promise((resolve, reject) => {
    child.once("message", ({ result, error }) =>
      error === undefined ? resolve(result) : reject(new Error(error)),
    );
    child.send(job);
  });
}

/** All rounds of one workload: every subject in each round, in an order that turns. */
async function measure({ job, quick: fewer, quickRounds = 2 }, subjects, load, quick) {
  const samples = new Map(subjects.map(({ name }) => [name, []]));
  const rounds = quick ? quickRounds : 4;
  const warmUp = { ...job, count: Math.min(job.count, quick ? 60 : 200) };
  warmUp.parallel = Math.min(job.parallel, warmUp.count);
  for (const { name, port } of subjects) {
    await send(load, { ...warmUp, port, path: PATH }).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
  for (let round = 0; round < rounds; round += 1) {
    const order = subjects.map((_, index) => subjects[(index + round) % subjects.length]);
    for (const { name, port, pid } of order) {
      await sleep(BETWEEN_MS);
      const before = pid === null ? Number.NaN : cpuMs(pid);
      const result = await send(load, { ...job, ...(quick ? fewer : {}), port, path: PATH });
      if (name.startsWith("gateway")) await sleep(BEHIND_MS);
      samples.get(name).push({ ...result, cpu: pid === null ? Number.NaN : cpuMs(pid) - before });
    }
  }
  return subjects.map(({ name }) => {
    const taken = samples.get(name);
    const requests = sum(taken.map(({ total }) => total.length));
    const lags = taken.flatMap((sample) => sample.lags);
    return {
      subject: name,
      cpuMs: median(taken.map(({ cpu, total }) => cpu / total.length)),
      perSecond: requests / (sum(taken.map(({ wallMs }) => wallMs)) / 1000),
      totalMs: median(taken.flatMap(({ total }) => total)) / 1000,
      firstMs: job.stream ? median(taken.flatMap(({ first }) => first)) / 1000 : Number.NaN,
      lagMs: median(lags) / 1000,
      lagP99Ms: lags.length === 0 ? Number.NaN : percentile(lags, 0.99) / 1000,
    };
  });
}

function aimsOf(rows, memory, subjects) {
  const aims = [];
  const of = (workload, subject) => rows.get(workload.name)?.find((row) => row.subject === subject);
  const [one, many, burst, live] = WORKLOADS;
  const add = (name, value, aim, unit) => {
    if (Number.isFinite(value)) aims.push({ name, value, aim, unit });
  };
  const ratio = (workload, subject, base) => of(workload, subject)?.cpuMs / of(workload, base)?.cpuMs;
  for (const runtime of ["", ", Deno"]) {
    const gateway = `gateway${runtime}`;
    if (!subjects.some(({ name }) => name === gateway)) continue;
    const suffix = runtime === "" ? "" : " (Deno)";
    add(
      `whole answers, 1 at a time: CPU of a pass-through${suffix}`,
      ratio(one, gateway, `pass-through${runtime}`),
      2.5,
      "x",
    );
    add(
      `whole answers, 32 at a time: CPU of a pass-through${suffix}`,
      ratio(many, gateway, `pass-through${runtime}`),
      2.5,
      "x",
    );
    if (runtime === "")
      add("live streams: CPU of the copying loop", ratio(live, gateway, "copying loop"), 1.15, "x");
    for (const workload of [burst, live]) {
      const added = of(workload, gateway)?.firstMs - of(workload, "direct")?.firstMs;
      add(`${workload.name}: added to the first chunk${suffix}`, added, 1.5, "ms");
    }
    add(`memory after the load${suffix}`, memory.find(({ name }) => name === gateway)?.mb, 300, "MB");
  }
  return aims;
}
