import { describe, expect, it } from "vitest";
import { readBytes } from "../../../../src/pages/answers/answer.ts";
import { ProcessAnswerCache } from "../../../../src/pages/cache/process-answer-cache.ts";

const answer = (body: string, seconds: number) =>
  new Response(body, { headers: { "cache-control": `public, max-age=${seconds}`, "x-made-at": "1" } });

describe("the answer cache of a process", () => {
  it("returns an answer with its headers until it is too old", async () => {
    let now = 0;
    const cache = new ProcessAnswerCache(() => now, 1_000);
    await cache.put("k", answer("body", 10));
    for (const time of [0, 9_999]) {
      now = time;
      const { headers, body = new Uint8Array() } = (await cache.match("k")) ?? {};
      const text = new TextDecoder().decode(await readBytes(body));
      expect([text, headers?.get("x-made-at")]).toEqual(["body", "1"]);
    }
    now = 10_000;
    expect(await cache.match("k")).toBeUndefined();
    now = 0;
    expect(await cache.match("k")).toBeUndefined();
  });

  it("evicts the least recently used answer when it is full", async () => {
    const body = "x".repeat(2_000);
    const cache = new ProcessAnswerCache(() => 0, 8_700);
    for (const key of ["a", "b", "c"]) await cache.put(key, answer(body, 10));
    await cache.match("a");
    await cache.put("d", answer(body, 10));
    expect(await cache.match("b")).toBeUndefined();
    for (const key of ["a", "c", "d"]) expect(await cache.match(key)).toBeDefined();
    await cache.put("a", answer("", 10));
    await cache.put("e", answer(body, 10));
    expect(await cache.match("c")).toBeDefined();
  });

  it("counts keys and headers towards its size", async () => {
    const cache = new ProcessAnswerCache(() => 0, 100_000);
    const keys = Array.from({ length: 300 }, (_, n) => `${n}`.padEnd(1_000, "k"));
    for (const key of keys) await cache.put(key, answer("", 10));
    const found = await Promise.all(keys.map((key) => cache.match(key)));
    expect(found.filter((answer) => answer !== undefined).length).toBeLessThan(50);
  });

  it("does not store answers that are not cacheable or do not fit", async () => {
    const cache = new ProcessAnswerCache(() => 0, 1_000);
    await cache.put("a", answer("x", 0));
    await cache.put("b", answer("x".repeat(1_001), 10));
    expect([await cache.match("a"), await cache.match("b")]).toEqual([undefined, undefined]);
  });

  it("stores answers without a body, such as the mark of a renewal, when there is no room for bodies", async () => {
    const full = async () => Promise.reject(new Error("the disk is full"));
    const cache = new ProcessAnswerCache(() => 0, 8_700, { put: full, get: full, remove: () => undefined });
    await expect(cache.put("a", answer("a", 10))).rejects.toThrow("full");
    await cache.put("a/renewal", answer("", 10));
    expect([await cache.match("a"), (await cache.match("a/renewal"))?.body]).toEqual([
      undefined,
      new Uint8Array(),
    ]);
  });

  it("stores bodies in a given store, and removes evicted ones from it", async () => {
    const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
    let serial = 0;
    const store = {
      put: async (body: Uint8Array<ArrayBuffer>) => {
        bodies.set(`${serial}`, body);
        return `${serial++}`;
      },
      get: async (name: string) => bodies.get(name) ?? Promise.reject(new Error("there is no such body")),
      remove: (name: string) => void bodies.delete(name),
    };
    let now = 0;
    const cache = new ProcessAnswerCache(() => now, 8_700, store);
    for (const key of ["a", "b", "c", "d"]) await cache.put(key, answer(key.repeat(2_000), 10));
    await cache.put("c", answer("new", 10));
    expect([...bodies.keys()]).toEqual(["1", "3", "4"]);
    const found = await cache.match("c");
    expect(found && new TextDecoder().decode(await readBytes(found.body))).toBe("new");
    bodies.clear();
    expect(await cache.match("d")).toBeUndefined();
    now = 10_000;
    await cache.put("e", answer("e", 10));
    expect([await cache.match("c"), bodies.size]).toEqual([undefined, 1]);
  });
});
