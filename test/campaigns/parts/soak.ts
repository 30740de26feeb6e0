import { setTimeout as sleep } from "node:timers/promises";
import { ending, times } from "../gateway-under-test.ts";
import type { Part } from "../part.ts";

/**
 * Thresholds of growth: more than 10 %, and more than the variation between garbage collections (RSS: of the allocator).
 */
const TENTH = 1.1;
const NOISE_MB = { heap: 1, rss: 30 };
/** Number of requests until a runtime's memory is stable. */
const AT_REST = 20_000;

/** Sends many requests of all kinds. Checks memory and sockets after each tenth of them. */
export const soak: Part = {
  name: "soak",
  what: "requests",
  full: 200_000,
  short: 2_000,
  site: {
    driver: "openai",
    accounts: 10,
    perAccount: 4,
    plan: { text: "It is a short answer." },
    inspected: true,
  },
  run: async ({ site, count }) => {
    let wrong = 0;
    const samples: { readonly heap: number; readonly rss: number }[] = [];
    for (let tenth = 1; tenth <= 10; tenth += 1) {
      await times(count / 10, 32, async (index) => {
        const style = index % 3 === 0 ? "messages" : index % 3 === 1 ? "responses" : "chat";
        const ended = await site.ask({ style, stream: index % 2 === 0 });
        if (ending(ended) === "whole") return;
        wrong += 1;
        console.log(`  wrong: ${style} ${JSON.stringify({ ...ended, text: ended.text.slice(-300) })}`);
      });
      site.upstream.clear();
      if (count > 1_000) await sleep(1_000);
      const sample = { heap: await site.heap(), rss: site.memory() };
      samples.push(sample);
      const { heap, rss } = sample;
      console.log(
        `  ${(tenth * count) / 10}: heap ${heap.toFixed(1)} MB, RSS ${rss} MB, ${site.sockets()} sockets`,
      );
    }
    const first = Math.ceil(AT_REST / (count / 10)) - 1;
    const early = samples[first] ?? { heap: 0, rss: 0 };
    const last = samples.at(-1) ?? early;
    const beyond = (kind: "heap" | "rss") =>
      Math.max(0, Math.ceil(last[kind] - Math.max(early[kind] * TENTH, early[kind] + NOISE_MB[kind])));
    const grown = first < samples.length - 1 ? beyond("heap") + beyond("rss") : 0;
    const told = (kind: "heap" | "rss") => samples.map((sample) => sample[kind].toFixed(1)).join(", ");
    return { wrong, grown, note: `after each tenth live heap ${told("heap")} MB, RSS ${told("rss")} MB` };
  },
};
