import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../scripts/development.mjs";
import { buildBundles } from "../../test/support/bundle.ts";
import { median, spread } from "../figures.mjs";
import { cpuMs, start, tell } from "./process.mjs";
import { gatewayOnDeno, gatewayOnWorkerd, LIMITED_KEY, NATIVE, NO_LIMIT, PATH } from "./subjects.mjs";

/** Cases of the comparison. Blocks are small, so that other load on the machine affects all builds equally. */
export const CASES = [
  {
    name: "whole answers",
    job: { prompt: "Say something.", stream: false, chunks: 0, parallel: 32 },
    block: 320,
  },
  {
    name: "streams of 100 chunks",
    job: { prompt: "Count. [burst:100]", stream: true, chunks: 100, parallel: 8 },
    block: 24,
  },
  {
    name: "streams of 100 chunks, with tools on offer",
    job: { prompt: "Count. [burst:100]", stream: true, chunks: 100, parallel: 8, tools: true },
    block: 24,
  },
  {
    name: "60 live streams, 50 chunks at 20 ms",
    job: { prompt: "Go on. [live:50:20]", stream: true, chunks: 50, parallel: 60, staggerMs: 5 },
    block: 60,
  },
];
const WARM_UP_BLOCKS = 8;
/** History and metrics are sent half a second after a request. */
const BEHIND_MS = 1_000;
/** Suffixes of the name of a build: what it is measured with. */
const VARIANTS = {
  "+limits": { key: LIMITED_KEY },
  "+native": NATIVE,
  "+free": NO_LIMIT,
};

const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * Measures builds of the gateway as ratios to the first one. Runs a block of requests of each build in turn, forwards and
 * backwards, so that other load on the machine affects all builds equally. The interval is a bootstrap over the rounds;
 * with 100 rounds it is about 1 %.
 *
 * @param {readonly string[]} folders builds as wrangler writes them, or checkouts with `node_modules` on Deno. The build of
 *   this tree follows, without and with each suffix. `NAME=FOLDER` sets a name; `NAME+limits=FOLDER` uses a rate-limited key,
 *   `NAME+native=FOLDER` the native path, and `NAME+free=FOLDER` the native path without a limit of the accounts
 * @param {{ rounds?: number, only?: readonly number[], runtime?: "workerd" | "deno" }} [options] `only`: numbers of the
 *   cases
 */
export async function run(folders, { rounds = 100, only, runtime = "workerd" } = {}) {
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const builds = folders.map((each) => {
    const [name, folder = name] = each.split("=");
    const suffix = Object.keys(VARIANTS).find((variant) => name.endsWith(variant));
    return { name, folder, ...VARIANTS[suffix] };
  });
  const folder = runtime === "deno" ? root : (await buildBundles()).gateway.folder;
  builds.push({ name: "this", folder });
  for (const [suffix, variant] of Object.entries(VARIANTS))
    builds.push({ name: `this${suffix}`, folder, ...variant });
  const subjects = [];
  try {
    for (const build of builds) {
      const options = { name: build.name, limited: build.key !== undefined };
      const gateway =
        runtime === "deno"
          ? await gatewayOnDeno(upstream.ready, { ...options, folder: resolve(build.folder) })
          : await gatewayOnWorkerd(upstream.ready, {
              ...options,
              bundle: { folder: build.folder, entry: "worker.js" },
            });
      if (gateway === null) throw new Error(`${build.folder} holds no build for ${runtime}`);
      subjects.push({ ...gateway, key: build.key, model: build.model });
    }
    for (const { name, job, block } of CASES.filter(
      (_, index) => only === undefined || only.includes(index),
    )) {
      const ask = ({ port, key, model }, count = block) =>
        tell(load.child, { ...job, count, port, path: PATH, key, model });
      console.log(`\n${name}, ${rounds} rounds of ${block}`);
      report(await measure(subjects, ask, rounds), block);
    }
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.close()));
    upstream.child.disconnect();
    load.child.disconnect();
  }
}

/** Measures the CPU time of each block in milliseconds, by the subject's name. Includes background work after the block. */
export async function measure(subjects, ask, rounds, warmUpBlocks = WARM_UP_BLOCKS) {
  for (const subject of subjects) {
    for (let block = 0; block < warmUpBlocks; block += 1) await ask(subject);
  }
  await sleep(BEHIND_MS);
  const marks = new Map(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      marks.get(subject.name).push(cpuMs(subject.pid));
      await ask(subject);
    }
  }
  await sleep(BEHIND_MS);
  return subjects.map(({ name, pid }) => {
    const all = [...marks.get(name), cpuMs(pid)];
    return { name, costs: all.slice(1).map((mark, index) => mark - all[index]) };
  });
}

/** Prints ratios to the first subject: over all rounds with the interval, and the median of the rounds. */
export function report(rows, block) {
  const [{ costs: base }] = rows;
  for (const { name, costs } of rows) {
    const of = (values, rounds) => sum(rounds.map((round) => values[round]));
    const ratio = spread(costs.length, (rounds) => of(costs, rounds) / of(base, rounds));
    const [value, low, high] = [ratio.value, ratio.low, ratio.high].map((each) => each.toFixed(3));
    const each = (sum(costs) / costs.length / block).toFixed(3);
    const middle = median(costs.map((cost, round) => cost / base[round])).toFixed(3);
    console.log(`${name.padEnd(28)} ${each} ms   ${value} (${low} to ${high}), median ${middle}`);
  }
}
