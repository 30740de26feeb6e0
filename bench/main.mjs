// Runs the benchmarks. See README.md in this folder.
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    runtime: { type: "string" },
    only: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string" },
    limits: { type: "boolean", default: false },
    model: { type: "string" },
  },
});
const { quick, runtime } = values;
if (runtime !== undefined && runtime !== "workerd" && runtime !== "deno") {
  throw new Error("--runtime is workerd or deno");
}

const benches = {
  gateway: async () => {
    const { run } = await import("./gateway/index.mjs");
    const only = values.only?.split(",").map(Number);
    const { against } = values;
    await run({
      quick,
      ...(runtime !== undefined && { runtime }),
      ...(only !== undefined && { only }),
      ...(against !== undefined && { against }),
    });
  },
  profile: async () => {
    const { run } = await import("./gateway/profile.mjs");
    const { only, limits, model } = values;
    await run({
      limits,
      ...(model !== undefined && { model }),
      ...(only !== undefined && { workload: Number(only) }),
    });
  },
  counts: async () => {
    const { run } = await import("./gateway/counts.mjs");
    await run();
  },
  operations: async () => {
    const { run } = await import("./gateway/operations.mjs");
    await run();
  },
  compare: async (...folders) => {
    const { run } = await import("./gateway/compare.mjs");
    const only = values.only?.split(",").map(Number);
    await run(folders, {
      ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
      ...(only !== undefined && { only }),
      ...(runtime !== undefined && { runtime }),
    });
  },
  streams: async (...folders) => {
    const { run } = await import("./gateway/streams.mjs");
    const only = values.only?.split(",").map(Number);
    await run(folders, {
      ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
      ...(only !== undefined && { only }),
      ...(runtime !== undefined && { runtime }),
    });
  },
  dialects: async () => {
    const { run } = await import("./gateway/dialects.mjs");
    const only = values.only?.split(",").map(Number);
    await run({
      ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
      ...(only !== undefined && { only }),
    });
  },
  startup: async (...folders) => {
    const { run } = await import("./gateway/startup.mjs");
    const { only, rounds } = values;
    await run(folders, {
      ...(rounds !== undefined && { rounds: Number(rounds) }),
      ...(only !== undefined && { only }),
    });
  },
  scanner: async () => {
    const { run } = await import("./scanner.mjs");
    const rows = await run(quick ? { characters: 1_000_000, rounds: 2 } : {});
    console.log("\ntool-call scanner");
    for (const { name, value, unit } of rows)
      console.log(`${name.padEnd(44)} ${String(value).padStart(8)} ${unit}`);
  },
  pool: async () => {
    const { run } = await import("./pool.mjs");
    const rows = await run({ quick });
    console.log("\naccount pool: acquire and release");
    for (const { accounts, rulesNs, rpcMs, rpcCpuMs } of rows) {
      console.log(
        `${String(accounts).padStart(6)} accounts   rules alone ${rulesNs.toFixed(0)} ns   over RPC ${rpcMs.toFixed(3)} ms, CPU ${rpcCpuMs.toFixed(3)} ms`,
      );
    }
  },
  objects: async () => {
    const { print } = await import("./objects.mjs");
    await print({ quick, ...(values.only !== undefined && { only: values.only }) });
  },
  technologies: async (folder) => {
    const { run } = await import("./technologies.mjs");
    await run({ folder, ...(quick && { rounds: 2 }) });
  },
  settled: async (folder) => {
    const { run } = await import("./settled.mjs");
    await run(folder);
  },
  thumbs: async () => {
    const { run } = await import("./thumbs.mjs");
    await run({ quick, ...(values.only !== undefined && { only: values.only }) });
  },
  frameworks: async () => {
    const { run } = await import("./frameworks.mjs");
    await run();
  },
  pages: async () => {
    const { run } = await import("./pages.mjs");
    await run({ quick, ...(values.only !== undefined && { only: values.only }) });
  },
};

const [name, ...rest] = positionals;
if (name === undefined) {
  for (const each of ["gateway", "scanner", "pool"]) await benches[each]();
} else if (Object.hasOwn(benches, name)) {
  await benches[name](...rest);
} else {
  throw new Error(`There is no benchmark ${name}; there are ${Object.keys(benches).join(", ")}.`);
}
