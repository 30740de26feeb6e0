import { beforeEach, describe, expect, it } from "vitest";
import { toUtf8 } from "../../../src/encoding/bytes.ts";
import { type KeptAnswer, keptOrMade } from "../../../src/pages/kept-answers.ts";
import { MemoryAnswerCache } from "../../../src/pages/memory-cache.ts";

const KEY = "http://gateway/.kept/thumbs/1";
const FRESHNESS = { maxAge: 100, staleFor: 50 };
const admitted = Promise.resolve();

describe("an answer that is kept", () => {
  let now = 0;
  let work: Promise<unknown>[] = [];
  const cache = () => new MemoryAnswerCache(() => now, 1_000_000);
  let context = contextWith(cache());

  function contextWith(kept: MemoryAnswerCache) {
    return {
      waitUntil: (promise: Promise<unknown>) => void work.push(promise),
      platform: { now: () => now, pages: { cache: kept } },
    };
  }
  beforeEach(() => {
    now = 1_000_000_000_000;
    work = [];
    context = contextWith(cache());
  });

  const made = (text: string, lifetime = 10_000): KeptAnswer => ({
    body: toUtf8(text),
    headers: { "content-type": "text/plain" },
    madeAt: now,
    lifetime,
    hit: false,
  });
  /** What is given when somebody asks, and whether it is stale, once all that it began has ended. */
  async function ask(make: () => Promise<KeptAnswer>, freshness = FRESHNESS): Promise<[string, boolean]> {
    const { body, stale } = await keptOrMade(context, KEY, freshness, admitted, make);
    await Promise.all(work);
    return [new TextDecoder().decode(body), stale === true];
  }
  const later = (seconds: number) => {
    now += seconds * 1_000;
  };

  it("is given while it is new, then at once while another is made, then not any more", async () => {
    expect(await ask(async () => made("first"))).toEqual(["first", false]);
    later(99);
    expect(await ask(async () => made("second"))).toEqual(["first", false]);
    later(2);
    expect(await ask(async () => made("third"))).toEqual(["first", true]);
    expect(await ask(async () => made("fourth"))).toEqual(["third", false]);
    later(151);
    expect(await ask(async () => made("fifth"))).toEqual(["fifth", false]);
  });

  it("does not wait for the one that takes its place, of which only one is made", async () => {
    await ask(async () => made("old"));
    later(101);
    const renewal = Promise.withResolvers<KeptAnswer>();
    let begun = 0;
    const make = () => {
      begun++;
      return renewal.promise;
    };
    for (let count = 0; count < 5; count++) {
      const { stale } = await keptOrMade(context, KEY, FRESHNESS, admitted, make);
      expect(stale).toBe(true);
    }
    // Another isolate has the same cache, and a memory of its own.
    const other = { match: (key: string) => context.platform.pages.cache.match(key), put: async () => {} };
    const elsewhere = { ...context, platform: { now: () => now, pages: { cache: other } } };
    await expect.poll(() => begun, { timeout: 20_000 }).toBe(1);
    await keptOrMade(elsewhere, KEY, FRESHNESS, admitted, make);
    renewal.resolve(made("new"));
    await Promise.all(work);
    expect(begun).toBe(1);
    expect(await ask(async () => made("newer"))).toEqual(["new", false]);
  });

  it("stays when its renewal fails or shows trouble, and is tried again after a minute", async () => {
    await ask(async () => made("old"), { maxAge: 100, staleFor: 5_000 });
    later(101);
    let tries = 0;
    const freshness = { maxAge: 100, staleFor: 5_000 };
    const fails = async () => {
      tries++;
      throw new Error("unreachable");
    };
    expect(await ask(fails, freshness)).toEqual(["old", true]);
    expect(await ask(fails, freshness)).toEqual(["old", true]);
    expect(tries).toBe(1);
    later(61);
    expect(await ask(async () => made("in trouble", 60), freshness)).toEqual(["old", true]);
    later(61);
    expect(await ask(async () => made("well"), freshness)).toEqual(["old", true]);
    expect(await ask(fails, freshness)).toEqual(["well", false]);
  });

  it("is made anew each time for who wants it so", async () => {
    await ask(async () => made("old"));
    const freshness = { maxAge: 0, staleFor: 50 };
    expect(await ask(async () => made("new"), freshness)).toEqual(["new", false]);
  });
});
