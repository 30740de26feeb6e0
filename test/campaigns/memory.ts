/**
 * `npm run memory [-- deno|workers]`: measures the maximum memory that unauthenticated clients can occupy, for every kind
 * of input, on both runtimes. Prints a row per kind and fails if a bound is exceeded. Run it on an idle machine.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { MEMORY_USES, type MemoryUse, type MemoryUseSize } from "../support/client-memory.ts";
import { DenoGateway } from "../support/deno.ts";
import type { Gateway } from "../support/gateway.ts";
import { MEMORY_ATTACKS, type MemoryAttack, MOST_MEMORY } from "../support/memory-attacks.ts";
import { startMiniflare } from "../support/miniflare.ts";

const MIB = 1024 * 1024;
/** Maximum response time after large and costly bodies, in milliseconds. */
const LONGEST_MS = 100;

/** A runtime and its bounds. */
interface Runtime {
  readonly name: string;
  readonly start: () => Promise<Gateway>;
  readonly size: MemoryUseSize;
  /**
   * Maximum live memory while the clients hold everything they can: a quarter of the budget, plus the program's own memory.
   */
  readonly heapMiB: number;
  /** Maximum peak memory of the process; undefined where the allocator does not return memory (workerd). */
  readonly peakMiB?: number;
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: "deno",
    start: () => DenoGateway.start({ inspected: true }),
    size: { clients: 40, bytes: 15 * MIB },
    heapMiB: 64 + 48,
    // Includes garbage: V8 collects late on machines with much memory.
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
  /** Number of responses with a status that is not allowed. */
  readonly wrong: number;
  /** Live memory while the clients hold everything they can, and after they have disconnected. */
  readonly "heap MiB"?: number;
  readonly "heap after MiB"?: number;
  readonly "peak MiB"?: number;
  readonly "most peak MiB"?: number;
  /** Duration of the next response in milliseconds. */
  readonly ms?: number;
}

async function measure({ start, size, peakMiB }: Runtime, { name, take }: MemoryUse): Promise<Row> {
  const gateway = await start();
  try {
    const held = await take(gateway, size);
    const heap = await gateway.heap();
    const peak = gateway instanceof DenoGateway ? await gateway.peakMemory() : undefined;
    await held.end();
    await sleep(1_000);
    return {
      kind: name,
      wrong: held.statuses.filter((status) => status === 500).length,
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

/** Duration of the next response in milliseconds; infinite: no response. */
async function answerTime(gateway: Gateway): Promise<number> {
  // The first request may open a connection, so do not time it.
  const lives = (await gateway.fetch("/healthz")).ok;
  const from = performance.now();
  const answers = (await gateway.fetch("/healthz")).ok;
  return lives && answers ? Math.round(performance.now() - from) : Number.POSITIVE_INFINITY;
}

/** Large and costly bodies, one after another in one Deno process. */
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
  for (const kind of MEMORY_USES.filter(({ name }) => name.includes(only))) {
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
