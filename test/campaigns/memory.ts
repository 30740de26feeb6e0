/**
 * `npm run memory [-- deno|workers]`: the most memory that strangers can take, for every kind of input, on both runtimes. It prints a
 * row for each kind, and fails where a bound does not hold. To be run on a quiet machine.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DenoGateway } from "../support/deno.ts";
import type { Gateway } from "../support/gateway.ts";
import { HOARD_KINDS, type HoardKind, type HoardSize } from "../support/hoards.ts";
import { MEMORY_ATTACKS, type MemoryAttack, MOST_MEMORY } from "../support/memory-attacks.ts";
import { startMiniflare } from "../support/miniflare.ts";

const MIB = 1024 * 1024;
/** After large and costly bodies the gateway answers the next request within so long. */
const LONGEST_MS = 100;

/** One runtime, and what strangers may make of it. */
interface Runtime {
  readonly name: string;
  readonly start: () => Promise<Gateway>;
  readonly size: HoardSize;
  /** The most that is alive while strangers hold all they get: a quarter of the budget, and what the program has itself. */
  readonly heapMiB: number;
  /** The most that the process has ever had; undefined where its allocator keeps what it had (workerd). */
  readonly peakMiB?: number;
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: "deno",
    start: () => DenoGateway.start({ inspected: true }),
    size: { clients: 40, bytes: 15 * MIB },
    heapMiB: 64 + 48,
    // Garbage counts, too: V8 collects late where a machine has much memory.
    peakMiB: 900,
  },
  {
    name: "workers",
    start: () => startMiniflare({ inspected: true }),
    size: { clients: 40, bytes: 6 * MIB },
    heapMiB: 22 + 32,
  },
];

interface Row {
  readonly kind: string;
  /** Answers with a status that they must not have. */
  readonly wrong: number;
  /** What is alive while strangers hold all they get, and once they have left. */
  readonly "heap MiB"?: number;
  readonly "heap after MiB"?: number;
  readonly "peak MiB"?: number;
  readonly "most peak MiB"?: number;
  /** How long the next answer takes. */
  readonly ms?: number;
}

async function measure({ start, size, peakMiB }: Runtime, { name, take }: HoardKind): Promise<Row> {
  const gateway = await start();
  try {
    const hoard = await take(gateway, size);
    const heap = await gateway.heap();
    const peak = gateway instanceof DenoGateway ? await gateway.peakMemory() : undefined;
    await hoard.end();
    await sleep(1_000);
    return {
      kind: name,
      wrong: hoard.statuses.filter((status) => status === 500).length,
      "heap MiB": inMiB(heap),
      "heap after MiB": inMiB(await gateway.heap()),
      ...(peak === undefined ? {} : { "peak MiB": inMiB(peak) }),
      ...(peakMiB === undefined ? {} : { "most peak MiB": peakMiB }),
    };
  } finally {
    await gateway.close();
  }
}

const inMiB = (bytes: number) => Math.round(bytes / MIB);

/** How long the next answer takes, in milliseconds; infinite: it was none. */
async function answerTime(gateway: Gateway): Promise<number> {
  // The first request may need a connection.
  const lives = (await gateway.fetch("/healthz")).ok;
  const from = performance.now();
  const answers = (await gateway.fetch("/healthz")).ok;
  return lives && answers ? Math.round(performance.now() - from) : Number.POSITIVE_INFINITY;
}

/** Large and costly bodies, one after another in one process on Deno. */
async function measureBodies(attacks: readonly MemoryAttack[]): Promise<readonly Row[]> {
  const gateway = await DenoGateway.start();
  const rows: Row[] = [];
  try {
    for (const { name, run, own } of attacks) {
      const came = await run(gateway);
      const wrong = came.filter(({ status, allowed }) => !allowed.includes(status)).length;
      const ms = await answerTime(gateway);
      const peak = inMiB(await gateway.peakMemory());
      rows.push({ kind: name, wrong, "peak MiB": peak, "most peak MiB": inMiB(MOST_MEMORY + own), ms });
    }
  } finally {
    await gateway.close();
  }
  return rows;
}

function isWrong({ heapMiB }: Runtime, row: Row): boolean {
  const { wrong, ms = 0, "heap MiB": heap = 0, "peak MiB": peak = 0, "most peak MiB": most = peak } = row;
  return wrong > 0 || ms >= LONGEST_MS || heap > heapMiB || peak > most;
}

const [wanted = "all", only = ""] = process.argv.slice(2);
let failed = false;
for (const runtime of RUNTIMES.filter(({ name }) => wanted === "all" || wanted === name)) {
  const rows: Row[] = [];
  for (const kind of HOARD_KINDS.filter(({ name }) => name.includes(only))) {
    rows.push(await measure(runtime, kind));
  }
  const attacks = MEMORY_ATTACKS.filter(({ name }) => name.includes(only));
  if (runtime.name === "deno" && attacks.length > 0) rows.push(...(await measureBodies(attacks)));
  const bad = rows.filter((row) => isWrong(runtime, row));
  failed ||= bad.length > 0;
  console.log(`\n${runtime.name}: at most ${runtime.heapMiB} MiB of heap`);
  console.table(rows);
  for (const { kind } of bad) console.log(`Not within the bounds: ${kind}`);
}
process.exit(failed ? 1 : 0);
