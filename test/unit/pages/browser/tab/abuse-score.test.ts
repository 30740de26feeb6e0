import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AbuseScore } from "../../../../../src/pages/browser/tab/abuse-score.ts";

/** Pages that did harm, and time that passes. */
const histories = fc.array(
  fc.oneof(
    fc.record({ client: fc.constantFrom("a", "b", "c") }),
    fc.record({ passMs: fc.integer({ min: 1, max: 40_000 }) }),
  ),
  { maxLength: 60 },
);

describe("the abuse score of a client", () => {
  it("halves its share for each harmful page, to at least one tab, and expires after a minute", () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 40 }), (history, tabs) => {
        let now = 0;
        const harm = new AbuseScore(() => now);
        const ends: { client: string; until: number }[] = [];
        for (const event of history) {
          if ("passMs" in event) now += event.passMs;
          else {
            harm.recordHarm(event.client);
            ends.push({ client: event.client, until: now + 60_000 });
          }
          for (const client of ["a", "b", "c", "nobody"]) {
            const held = ends.filter((end) => end.client === client && end.until > now).length;
            expect(harm.isPenalized(client)).toBe(held > 0);
            expect(harm.getTabShare(client, tabs)).toBe(Math.max(1, Math.floor(tabs / 2 ** held)));
          }
        }
        now += 60_000;
        expect(["a", "b", "c"].map((client) => harm.getTabShare(client, tabs))).toEqual([tabs, tabs, tabs]);
      }),
    );
  });

  it("does not count a client as active 5 s after its last activity", () => {
    let now = 0;
    const harm = new AbuseScore(() => now);
    harm.recordActivity("first");
    expect([harm.hasOtherActiveClients("first"), harm.hasOtherActiveClients("second")]).toEqual([
      false,
      true,
    ]);
    now += 5_001;
    harm.recordActivity("second");
    expect([harm.hasOtherActiveClients("first"), harm.hasOtherActiveClients("second")]).toEqual([
      true,
      false,
    ]);
  });
});
