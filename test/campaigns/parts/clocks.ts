import { setTimeout as sleep } from "node:timers/promises";
import type { Part } from "../part.ts";
import { ending, grantedTwice, until } from "../site.ts";

const PER_ACCOUNT = 2;
const HOUR_MS = 3_600_000;

/** Sets the gateway's clock forwards and back under load, by seconds and by hours. */
export const clocks: Part = {
  name: "clocks",
  what: "settings of the clock under load",
  full: 500,
  short: 8,
  site: {
    driver: "openai",
    accounts: 6,
    perAccount: PER_ACCOUNT,
    plan: { text: "word ".repeat(40).trim(), eventEvery: 30 },
  },
  run: async ({ site, count, random }) => {
    let done = false;
    let wrong = 0;
    let answers = 0;
    const load = until(
      () => done,
      16,
      async () => {
        const ended = await site.ask({ stream: random() < 0.7 });
        if (ending(ended) === "whole") answers += 1;
        else {
          wrong += 1;
          console.log(`  wrong: ${ended.status} ${ended.text.slice(-300)}`);
          await sleep(50);
        }
      },
    );
    let set = 0;
    for (let n = 0; n < count; n += 1) {
      await sleep(200 + random() * 600);
      const by = Math.round((random() - 0.5) * 2 * (random() < 0.5 ? 8_000 : HOUR_MS));
      set += by;
      await site.gateway.setClock(by);
    }
    done = true;
    await load;
    await site.gateway.setClock(-set);
    return {
      wrong,
      twice: grantedTwice(site.upstream, PER_ACCOUNT).beyond,
      note: `${answers} whole answers`,
    };
  },
};
