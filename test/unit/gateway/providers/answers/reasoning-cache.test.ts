import { describe, expect, it } from "vitest";
import { ReasoningCache } from "../../../../../src/gateway/providers/answers/reasoning-cache.ts";

const thought = (thinking: string) => [{ thinking }];
const newMemory = () => new ReasoningCache<{ thinking: string }>(({ thinking }) => thinking.length);
const id = (n: number) => `toolu_01${String(n).padStart(20, "0")}x`;

describe("the memory of thoughts", () => {
  it("knows the thoughts before a call of a model, also if there were none", () => {
    const memory = newMemory();
    memory.store("m", id(1), thought("a"));
    memory.store("m", id(2), []);
    expect([memory.get("m", id(1)), memory.get("m", id(2))]).toEqual([thought("a"), []]);
    expect([memory.get("m", id(3)), memory.get("other", id(1))]).toEqual([undefined, undefined]);
  });

  it.each(["", "call_0", "functions.get_weather:0", "call_1_get_weather_and_time", "thequickbrownfoxjumps"])(
    "ignores a guessable id: %j",
    (guessable) => {
      const memory = newMemory();
      memory.store("m", guessable, thought("a"));
      expect(memory.get("m", guessable)).toBeUndefined();
    },
  );

  it.each([
    "toolu_01T1x1fJ34qAmk2tNTrN7Up6",
    "toolu_bdrk_01T1x1fJ34qAmk2tNTrN7Up6",
    "chatcmpl-tool-0123456789abcdef0123456789abcdef",
    "call_550e8400-e29b-41d4-a716-446655440000",
  ])("uses %s", (random) => {
    const memory = newMemory();
    memory.store("m", random, thought("a"));
    expect(memory.get("m", random)).toEqual(thought("a"));
  });

  it("evicts the least recently used beyond 2,000 calls", () => {
    const memory = newMemory();
    for (let n = 0; n < 2000; n += 1) memory.store("m", id(n), []);
    memory.get("m", id(0));
    memory.store("m", id(2000), []);
    expect(memory.get("m", id(0))).toEqual([]);
    expect(memory.get("m", id(1))).toBeUndefined();
    expect(memory.get("m", id(2000))).toEqual([]);
  });

  it("evicts beyond 4 Mi characters, and rejects larger ones", () => {
    const memory = newMemory();
    const large = "x".repeat(1024 * 1024 - 1000);
    for (let n = 0; n < 5; n += 1) memory.store("m", id(n), thought(large));
    expect([0, 1, 4].map((n) => memory.get("m", id(n)) !== undefined)).toEqual([false, true, true]);
    memory.store("m", id(4), thought(large + large));
    expect(memory.get("m", id(4))).toBeUndefined();
    expect(memory.get("m", id(3))).toBeDefined();
  });
});
