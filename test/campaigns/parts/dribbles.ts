import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Plan } from "../../support/fault-body.ts";
import { rawChat } from "../../support/raw-client.ts";
import { ending, type GatewayUnderTest } from "../gateway-under-test.ts";
import { MachineStalls } from "../machine-stalls.ts";
import type { Part, PartInput, PartResult } from "../part.ts";

const ANSWER_TIMEOUT_MS = 1_500;
/** Maximum delay beyond the limit until all slots are released, in milliseconds. */
const ALLOWANCE_MS = 2_500;
const AT_ONCE = 4;
/** More pieces than any time limit here allows. */
const PIECES = 1_000;
const BODY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"';

/** A body sent piece by piece, so slowly that no client receives its end. */
const slowly = (piece: string, writeSize: number, start = ""): Plan => ({
  body: start + piece.repeat(PIECES),
  writeSize,
  eventEvery: 100,
});

/** Upstreams that send almost nothing. Whole answers and streams fail differently. */
const DRIBBLES: Readonly<Record<"whole" | "stream", readonly Plan[]>> = {
  whole: [
    { ...slowly(" ", 1), contentType: "application/json" },
    { ...slowly("a", 1, BODY), contentType: "application/json" },
    { hang: true },
    { body: " ", contentType: "application/json", stallAfter: 1 },
  ],
  stream: [
    slowly(": keep-alive\n\n", 14),
    slowly(": keep-alive\n\n", 1),
    slowly("event: ping\ndata: \n\n", 20),
    slowly("\n", 1),
    slowly("a", 1, "data: "),
    { hang: true },
    { stallAfter: 0 },
    { stallAfter: 2 },
  ],
};

/** Ways to disconnect: a graceful close, a reset, closing only the client's half while reading on, or not at all. */
const WAYS: readonly { readonly halfOpen: boolean; leave(socket: Socket): void }[] = [
  { halfOpen: false, leave: (socket) => socket.destroy() },
  { halfOpen: false, leave: (socket) => socket.resetAndDestroy() },
  { halfOpen: true, leave: (socket) => socket.end() },
  { halfOpen: false, leave: () => undefined },
];

/** Runs parallel clients that send a request and disconnect. Resolves when all have disconnected. */
async function askAndLeave(
  site: GatewayUnderTest,
  stream: boolean,
  way: (typeof WAYS)[number],
  random: () => number,
) {
  const body = JSON.stringify({
    model: "provider-v4-flash-nothinking",
    stream,
    messages: [{ role: "user", content: "hello" }],
  });
  return Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const socket = await rawChat(site.gateway, body, { halfOpen: way.halfOpen });
      await sleep(random() * 600);
      way.leave(socket);
      return socket;
    }),
  );
}

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  const healthy = site.upstream.plan;
  const stalls = await MachineStalls.watch();
  let late = 0;
  let wrong = 0;
  let slowest = 0;
  for (let n = 0; n < count; n += 1) {
    const stream = n % 3 > 0;
    const plans = DRIBBLES[stream ? "stream" : "whole"];
    const plan = plans[Math.floor(random() * plans.length)] ?? {};
    const way = WAYS[Math.floor(random() * WAYS.length)] ?? WAYS[0];
    if (way === undefined) continue;
    site.upstream.plan = plan;
    const from = performance.now();
    const sockets = await askAndLeave(site, stream, way, random);
    const limit = () => ANSWER_TIMEOUT_MS + ALLOWANCE_MS + stalls.since(from);
    const inUse = async () => {
      const { in_use }: { in_use: number } = await (await site.admin("/admin/queue/status")).json();
      return in_use;
    };
    // All requests have been admitted and have reached the upstream.
    let left = await inUse();
    while (left > 0 && performance.now() - from < limit()) {
      await sleep(50);
      left = await inUse();
    }
    slowest = Math.max(slowest, performance.now() - from);
    if (left > 0) {
      late += left;
      const kind = JSON.stringify({ ...plan, body: plan.body?.slice(0, 40) });
      console.log(
        `  ${left} slots are late: ${stream ? "stream" : "whole"}, way ${WAYS.indexOf(way)}, ${kind}`,
      );
    }
    for (const socket of sockets) socket.destroy();
    site.upstream.plan = healthy;
    if (ending(await site.ask({ stream })) !== "whole") wrong += 1;
  }
  await stalls.end();
  return { late, wrong, note: `all slots were back after ${Math.round(slowest)} ms at the latest` };
}

/** Slow upstreams and impatient clients: slots must be released within the time limit of an answer. */
export const dribbles: Part = {
  name: "dribbles",
  what: "groups of clients that leave upstreams which say next to nothing",
  full: 2_000,
  short: 24,
  site: {
    driver: "openai",
    accounts: 30,
    perAccount: 40,
    plan: { text: "It is a short answer." },
    vars: {
      ANSWER_TIMEOUT_MS: String(ANSWER_TIMEOUT_MS),
      FIRST_BYTE_TIMEOUT_MS: "1000",
      IDLE_TIMEOUT_MS: "1000",
    },
  },
  run,
};
