import { expect, it } from "vitest";
import { GatewayUnderTest, randomFrom } from "../campaigns/gateway-under-test.ts";
import type { Part } from "../campaigns/part.ts";
import { edits } from "../campaigns/parts/edits.ts";
import { soak } from "../campaigns/parts/soak.ts";
import { usage } from "../campaigns/parts/usage.ts";
import { ON_DENO } from "../support/runtime.ts";

/** The shortest form of those campaigns that no other test stands for: departures, restarts and faults have tests of their own. */
const PARTS: readonly (readonly [name: string, part: Part, count: number])[] = [
  ["edits of the configuration and deletions of accounts under load", edits, 25],
  ["requests of all kinds", soak, 100],
  ["what the books of usage say of requests of many keys, while objects are evicted,", usage, 200],
];

it.each(PARTS)(
  "%s leave the books balanced",
  async (_name, part, count) => {
    const seed = Number(process.env["SEED"] ?? 20_261_122);
    const site = await GatewayUnderTest.start(ON_DENO ? "deno" : "workers", part.site);
    try {
      // Memory says nothing after so few requests.
      const { wrong = 0, twice = 0, late = 0 } = await part.run({ site, count, random: randomFrom(seed) });
      expect({ wrong, twice, late, ...(await site.settled()) }, `seed ${seed}`).toEqual({
        ...{ wrong: 0, twice: 0, late: 0 },
        ...{ slots: 0, waiters: 0, upstream: 0, sessions: 0, records: 0, rows: 0, sockets: 0 },
      });
    } finally {
      await site.close();
    }
  },
  60_000,
);
