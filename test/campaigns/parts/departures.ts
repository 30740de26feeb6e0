import { setTimeout as sleep } from "node:timers/promises";
import { ending, times } from "../gateway-under-test.ts";
import type { Part } from "../part.ts";

const STYLES = ["chat", "messages", "responses"] as const;

/** Clients that disconnect at random times: before the headers, in the queue, within the stream, at its end. */
export const departures: Part = {
  name: "departures",
  what: "client departures at random moments",
  full: 10_000,
  short: 300,
  site: {
    driver: "sessions",
    accounts: 4,
    perAccount: 2,
    plan: { text: "word ".repeat(30).trim(), eventEvery: 3 },
  },
  run: async ({ site, count, random }) => {
    let wrong = 0;
    let left = 0;
    await times(count, 24, async (index) => {
      const leave = new AbortController();
      const moment = random() < 0.1 ? random() * 800 : random() * 150;
      const stay = new AbortController();
      const leaving = sleep(moment, undefined, { signal: stay.signal }).then(
        () => leave.abort(),
        () => undefined,
      );
      const ended = await site.ask({
        style: STYLES[index % STYLES.length] ?? "chat",
        stream: random() < 0.7,
        signal: leave.signal,
      });
      stay.abort();
      await leaving;
      if (leave.signal.aborted) left += 1;
      else if (ending(ended) === "wrong") wrong += 1;
    });
    return { wrong, note: `${left} had left before their answer's end` };
  },
};
