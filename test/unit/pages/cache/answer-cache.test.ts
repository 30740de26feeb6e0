import { beforeEach, describe, expect, it, vi } from "vitest";
import { toUtf8 } from "../../../../src/core/encoding/bytes.ts";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";
import type { AnswerCache } from "../../../../src/core/ports/pages.ts";
import {
  createJobAnswer,
  type NewAnswer,
  readBytes,
  type ServableAnswer,
  withConversion,
} from "../../../../src/pages/answers/answer.ts";
import { createResponse } from "../../../../src/pages/answers/answer-response.ts";
import { getOrCreate } from "../../../../src/pages/cache/answer-cache.ts";
import { ProcessAnswerCache } from "../../../../src/pages/cache/process-answer-cache.ts";

const KEY = "http://gateway/.kept/thumbs/1";
const FRESHNESS = { maxAge: 100, staleFor: 50 };
const admitted = Promise.resolve();

describe("a cached answer", () => {
  let now = 0;
  let work: Promise<unknown>[] = [];
  const cache = () => new ProcessAnswerCache(() => now, 1_000_000);
  let context = contextWith(cache());

  function contextWith(kept: AnswerCache) {
    return {
      waitUntil: (promise: Promise<unknown>) => void work.push(promise),
      recordOutcome: () => undefined,
      keepUntil: () => undefined,
      memory: new MemoryBudget(1_000_000).createReservation(),
      log: {},
      platform: { now: () => now, pages: { cache: kept }, variables: { idleTimeoutMs: 1000 } },
    };
  }
  beforeEach(() => {
    now = 1_000_000_000_000;
    work = [];
    context = contextWith(cache());
  });

  const made = (text: string, lifetime = 10_000): NewAnswer => ({
    body: toUtf8(text),
    headers: { "content-type": "text/plain" },
    madeAt: now,
    lifetime,
  });
  /** What is given when somebody asks, and whether it is stale, once all that it began has ended. */
  async function ask(make: () => Promise<NewAnswer>, freshness = FRESHNESS): Promise<[string, boolean]> {
    const { body, isStale } = await getOrCreate(context, KEY, freshness, admitted, make);
    await Promise.all(work);
    return [new TextDecoder().decode(await readBytes(body)), isStale === true];
  }
  const later = (seconds: number) => {
    now += seconds * 1_000;
  };

  it("is returned while it is fresh, then while a new one is made, and no longer after that", async () => {
    expect(await ask(async () => made("first"))).toEqual(["first", false]);
    later(99);
    expect(await ask(async () => made("second"))).toEqual(["first", false]);
    later(2);
    expect(await ask(async () => made("third"))).toEqual(["first", true]);
    expect(await ask(async () => made("fourth"))).toEqual(["third", false]);
    later(151);
    expect(await ask(async () => made("fifth"))).toEqual(["fifth", false]);
  });

  it("does not wait for its renewal, which happens only once", async () => {
    await ask(async () => made("old"));
    later(101);
    const renewal = Promise.withResolvers<NewAnswer>();
    let begun = 0;
    const make = () => {
      begun++;
      return renewal.promise;
    };
    for (let count = 0; count < 5; count++) {
      const { isStale } = await getOrCreate(context, KEY, FRESHNESS, admitted, make);
      expect(isStale).toBe(true);
    }
    // Another isolate has the same cache, and a memory of its own.
    const other = { match: (key: string) => context.platform.pages.cache.match(key), put: async () => {} };
    const elsewhere = { ...context, platform: { now: () => now, pages: { cache: other } } };
    await expect.poll(() => begun, { timeout: 20_000 }).toBe(1);
    await getOrCreate(elsewhere, KEY, FRESHNESS, admitted, make);
    renewal.resolve(made("new"));
    await Promise.all(work);
    expect(begun).toBe(1);
    expect(await ask(async () => made("newer"))).toEqual(["new", false]);
  });

  it("remains if its renewal fails or gives a short-lived answer; the renewal is retried after a minute", async () => {
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

  describe("in a cache that returns streams", () => {
    let cancelled = 0;
    const streamed = (text: string) =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          controller.enqueue(toUtf8(text));
          controller.close();
        },
        cancel: () => void cancelled++,
      });
    const nobody = async () => Promise.reject(new Error("nobody makes another one"));
    const give = async (headers: Record<string, string>, write?: ServableAnswer["convertBody"]) => {
      const found = await getOrCreate(context, KEY, FRESHNESS, admitted, nobody);
      const answer = write === undefined ? found : withConversion(found, "other", found.headers, write);
      const request = new Request("http://gateway/", { headers });
      return createResponse({ ...context, request }, answer, FRESHNESS);
    };

    beforeEach(async () => {
      cancelled = 0;
      await ask(async () => made("a picture"));
      const { cache: filled } = context.platform.pages;
      const cache = {
        match: async (key: string) => {
          const found = await filled.match(key);
          return found && { ...found, body: streamed("a picture") };
        },
        put: async () => {},
      };
      context = { ...context, platform: { ...context.platform, pages: { cache } } };
    });

    it("is streamed with its stored tag and length", async () => {
      const digest = vi.spyOn(crypto.subtle, "digest");
      const response = await give({});
      expect(digest).not.toHaveBeenCalled();
      expect(response.headers.get("content-length")).toBe("9");
      expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
      expect(await response.text()).toBe("a picture");
      digest.mockRestore();
    });

    it("is not read for a client that already has it", async () => {
      const tag = (await give({})).headers.get("etag") ?? "";
      const response = await give({ "if-none-match": tag });
      expect([response.status, response.headers.get("etag"), cancelled]).toEqual([304, tag, 1]);
    });

    it("is neither read nor converted again if the client has that form", async () => {
      const write = vi.fn(() => toUtf8("another form"));
      const first = await give({}, write);
      expect([await first.text(), first.headers.get("content-length")]).toEqual(["another form", "12"]);
      const tag = first.headers.get("etag") ?? "";
      const response = await give({ "if-none-match": tag }, write);
      expect([response.status, response.headers.get("etag"), cancelled]).toEqual([304, tag, 1]);
      expect(write).toHaveBeenCalledTimes(1);
    });

    it("is released if the caller is refused, or if it is too old", async () => {
      const refused = Promise.reject(new Error("too many calls"));
      refused.catch(() => undefined);
      const answering = getOrCreate(context, KEY, FRESHNESS, refused, nobody);
      await expect(answering).rejects.toThrow("too many calls");
      await Promise.all(work);
      expect(cancelled).toBe(1);
      later(151);
      expect(await ask(async () => made("another"))).toEqual(["another", false]);
      expect(cancelled).toBe(2);
    });
  });

  it("has server-timing only when it is new, not as the result of a job", async () => {
    const headers = { "server-timing": "load;dur=7" };
    const fresh = await getOrCreate(context, KEY, FRESHNESS, admitted, async () => ({
      ...made("new"),
      headers,
    }));
    const timing = async (answer: ServableAnswer) => {
      const request = new Request("http://gateway/");
      return (await createResponse({ ...context, request }, answer, FRESHNESS)).headers.get("server-timing");
    };
    expect(await timing(fresh)).toBe("load;dur=7");
    expect(await timing(await createJobAnswer({ ...made("of a job"), headers }, 100))).toBeNull();
  });

  it("is replaced on each request with maxAge 0", async () => {
    await ask(async () => made("old"));
    const freshness = { maxAge: 0, staleFor: 50 };
    expect(await ask(async () => made("new"), freshness)).toEqual(["new", false]);
  });
});
