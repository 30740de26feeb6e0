import { setTimeout as sleep } from "node:timers/promises";
import { ending, grantedTwice, type RequestResult, until } from "../gateway-under-test.ts";
import { MachineStalls } from "../machine-stalls.ts";
import type { Part, PartInput, PartResult } from "../part.ts";

const PER_ACCOUNT = 2;
const LIMIT_MS = 2_000;

const site = {
  driver: "openai",
  accounts: 10,
  perAccount: PER_ACCOUNT,
  plan: { text: "word ".repeat(40).trim(), eventEvery: 20 },
} as const;

const tell = ({ status, text, broken }: RequestResult) =>
  console.log(`  wrong: ${status}${broken ? ", broken off" : ""} ${text.slice(-300)}`);

/** Sends streams and whole answers while `restart` runs repeatedly. After each restart a response must arrive in time. */
async function underLoad(
  { site: { ask, upstream }, site: place, count, random }: PartInput,
  restart: () => Promise<void>,
  survives: boolean,
): Promise<PartResult> {
  let done = false;
  let wrong = 0;
  let late = 0;
  let answers = 0;
  let slowest = 0;
  let slowestOther = 0;
  const stalls = await MachineStalls.watch();
  const load = until(
    () => done,
    14,
    async () => {
      const ended = await ask.call(place, { stream: random() < 0.6 });
      if (ending(ended) === "whole") answers += 1;
      else if (survives) {
        wrong += 1;
        tell(ended);
      } else await sleep(20);
    },
  );
  const restarts: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(300 + random() * 1_500);
    restarts.push(Date.now());
    await restart();
    const from = performance.now();
    upstream.queue({ text: "first" });
    const passed = () => performance.now() - from;
    const [other, took] = await Promise.all([
      place.healthy().then(passed),
      place.ask().then((first) => {
        if (ending(first) !== "whole") {
          wrong += 1;
          tell(first);
        }
        return passed();
      }),
    ]);
    slowest = Math.max(slowest, took);
    slowestOther = Math.max(slowestOther, other);
    // On a busy machine everything is slow. The time of a request without a slot, and the machine's stalls, show how
    // slow.
    const stood = stalls.since(from);
    if (took > LIMIT_MS) {
      const beside = `${Math.round(stood)} ms of them the machine stood still`;
      console.log(`  slow: ${Math.round(took)} ms to the first answer, ${beside}`);
    }
    if (took - Math.max(other, stood) > LIMIT_MS) late += 1;
  }
  done = true;
  await load;
  await stalls.end();
  const times = `slowest first answer ${Math.round(slowest)} ms, of one without a slot ${Math.round(slowestOther)} ms`;
  const note = `${answers} whole answers; ${times}`;
  const { beyond: twice, lines } = grantedTwice(upstream, PER_ACCOUNT);
  for (const line of lines) console.log(`  twice: ${line}`);
  if (twice > 0) console.log(`  restarts: ${restarts.join(", ")}`);
  return { wrong, late, twice, note };
}

/** Evicts the pool's object under load, so that it loses its memory. */
export const evictions: Part = {
  name: "evictions",
  what: "evictions of the pool's object under load",
  full: 500,
  short: 5,
  runtimes: ["workers"],
  site,
  run: (errand) => underLoad(errand, () => errand.site.gateway.evictPool(), true),
};

/** Kills the whole process under load. */
export const kills: Part = {
  name: "kills",
  what: "kills of the process under load",
  full: 50,
  short: 2,
  site,
  run: (errand) =>
    underLoad(
      errand,
      async () => {
        const { gateway } = errand.site;
        for (const pid of gateway.processes()) process.kill(pid, "SIGKILL");
        await gateway.restart();
        errand.site.forgetSockets();
      },
      false,
    ),
};
