import { setTimeout as sleep } from "node:timers/promises";
import type { Part } from "../part.ts";
import { ending, times } from "../site.ts";

/** What counts as growth: more than a tenth, and more than what one collection of garbage moves. */
const TENTH = 1.1;
const NOISE_MB = 30;
const AT_REST = 10_000;

/** Many requests of all kinds; memory and sockets are looked at after each tenth of them. */
export const soak: Part = {
  name: "soak",
  what: "requests",
  full: 200_000,
  short: 2_000,
  site: { driver: "openai", accounts: 10, perAccount: 4, plan: { text: "It is a short answer." } },
  run: async ({ site, count }) => {
    let wrong = 0;
    const samples: string[] = [];
    let early = 0;
    let last = 0;
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
      last = site.memory();
      if (tenth === 1) early = last;
      samples.push(`${last} MB/${site.sockets()}`);
    }
    // Before that many requests a runtime has not come to rest.
    const judged = count / 10 >= AT_REST;
    const grown = judged ? Math.max(0, Math.round(last - Math.max(early * TENTH, early + NOISE_MB))) : 0;
    return { wrong, grown, note: `RSS/sockets after each tenth: ${samples.join(", ")}` };
  },
};
