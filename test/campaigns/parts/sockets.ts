import { setTimeout as sleep } from "node:timers/promises";
import { MOST_MEMORY } from "../../support/memory-attacks.ts";
import { RawWebSocket } from "../../support/raw-web-socket.ts";
import type { Errand, Found, Part } from "../part.ts";
import { ending, type Site, until } from "../site.ts";

/** What strangers may take, and what a busy machine has not collected yet. Without a bound each socket takes 20 MB. */
const MOST_MB = MOST_MEMORY / 2 ** 20 + 200;
const PIECE = "x".repeat(2 ** 20);
/** Megabytes of one question, which its connection keeps with the answer. */
const ASKED_MB = 3;
const PARTS_MB = 8;

/** What a stranger does with an open socket. */
type Habit = (socket: RawWebSocket) => void;

const ask = (characters: number) =>
  JSON.stringify({
    type: "response.create",
    model: "provider-v4-flash-nothinking",
    store: false,
    input: "x".repeat(characters),
  });

const HABITS: readonly Habit[] = [
  // The answers are kept, so that they can be continued.
  (socket) => {
    for (let n = 0; n < 4; n += 1) socket.send(ask(ASKED_MB * 2 ** 20));
  },
  // A message that never ends.
  (socket) => {
    socket.sendPart(`{"type":"response.create","input":"`);
    for (let n = 0; n < PARTS_MB; n += 1) socket.sendPart(PIECE, true);
  },
  // Messages that wait for each other.
  (socket) => {
    for (let n = 0; n < 40; n += 1) socket.send(ask(200_000));
  },
  // Nothing at all.
  () => undefined,
];

/** Opens a socket for a stranger; null where the gateway wants none. */
async function open({ gateway }: Site, n: number): Promise<RawWebSocket | null> {
  return RawWebSocket.open(gateway.url, "/v1/responses", `a-strangers-token-${n}`).catch(() => null);
}

async function run({ site, count, random }: Errand): Promise<Found> {
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
  // What they have sent is taken, answered, or refused.
  await sleep(5_000);
  const open_ = sockets.filter(({ isOpen }) => isOpen).length;
  for (const socket of sockets) socket.close();
  done = true;
  await honest;
  const grown = Math.max(0, Math.ceil(peak - MOST_MB));
  const note = `${open_} of ${sockets.length} sockets still open, ${refused} refused; ${answers} honest answers; ${peak} MB at most`;
  return { wrong, grown, note };
}

/** Strangers hoard what connections keep, next to honest callers, who are all answered; memory stays within its bounds. */
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
