import { setTimeout as sleep } from "node:timers/promises";
import { MOST_MEMORY } from "../../support/memory-attacks.ts";
import { RawWebSocket } from "../../support/raw-web-socket.ts";
import { ending, type GatewayUnderTest, until } from "../gateway-under-test.ts";
import type { Part, PartInput, PartResult } from "../part.ts";

/**
 * Bound for unauthenticated clients, plus garbage that a busy machine has not collected yet. Without a bound each socket
 * takes 20 MB.
 */
const MOST_MB = MOST_MEMORY / 2 ** 20 + 200;
const PIECE = "x".repeat(2 ** 20);
/** Megabytes of one request, which its connection stores together with the answer. */
const ASKED_MB = 3;
const PARTS_MB = 8;

/** Behavior of a client on an open socket. */
type Habit = (socket: RawWebSocket) => void;

const ask = (characters: number) =>
  JSON.stringify({
    type: "response.create",
    model: "provider-v4-flash-nothinking",
    store: false,
    input: "x".repeat(characters),
  });

const HABITS: readonly Habit[] = [
  // Answers are stored, so that clients can continue them.
  (socket) => {
    for (let n = 0; n < 4; n += 1) socket.send(ask(ASKED_MB * 2 ** 20));
  },
  // A message that never ends.
  (socket) => {
    socket.sendPart(`{"type":"response.create","input":"`);
    for (let n = 0; n < PARTS_MB; n += 1) socket.sendPart(PIECE, true);
  },
  // Messages that queue behind each other.
  (socket) => {
    for (let n = 0; n < 40; n += 1) socket.send(ask(200_000));
  },
  // No messages.
  () => undefined,
];

/** Opens a socket for an unauthenticated client; null if the gateway rejects it. */
async function open({ gateway }: GatewayUnderTest, n: number): Promise<RawWebSocket | null> {
  return RawWebSocket.open(gateway.url, "/v1/responses", `a-strangers-token-${n}`).catch(() => null);
}

async function run({ site, count, random }: PartInput): Promise<PartResult> {
  let wrong = 0;
  let answers = 0;
  let done = false;
  let peak = 0;
  const honest = until(
    () => done,
    3,
    async () => {
      const ended = await site.ask({ stream: random() < 0.5 });
      peak = Math.max(peak, site.memory());
      if (ending(ended) === "whole") answers += 1;
      else {
        wrong += 1;
        console.log(`  wrong: ${ended.status} ${ended.text.slice(-300)}`);
      }
      await sleep(50);
    },
  );
  const sockets: RawWebSocket[] = [];
  let refused = 0;
  for (let n = 0; n < count; n += 1) {
    const socket = await open(site, n);
    if (socket === null) {
      refused += 1;
      continue;
    }
    sockets.push(socket);
    HABITS[n % HABITS.length]?.(socket);
    await sleep(random() * 40);
  }
  // Wait until the sent data has been stored, answered, or rejected.
  await sleep(5_000);
  const open_ = sockets.filter(({ isOpen }) => isOpen).length;
  for (const socket of sockets) socket.close();
  done = true;
  await honest;
  const grown = Math.max(0, Math.ceil(peak - MOST_MB));
  const note = `${open_} of ${sockets.length} sockets still open, ${refused} refused; ${answers} honest answers; ${peak} MB at most`;
  return { wrong, grown, note };
}

/**
 * Unauthenticated clients make connections store as much as possible. Regular callers must still get answers, and memory
 * must stay within its bounds.
 */
export const sockets: Part = {
  name: "sockets",
  what: "WebSockets of strangers",
  full: 2_000,
  short: 80,
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "It is a short answer." },
  },
  run,
};
