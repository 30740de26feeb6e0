import { describe, expect, it } from "vitest";
import {
  findLongRunning,
  parseStat,
  pauseAfterCheck,
} from "../../../../src/runtime/deno/renderer-priority.ts";

describe("the priority of pages", () => {
  it("is lowered in two steps by what a browser's processes have computed, and nobody else's", () => {
    const processes = [
      { pid: 1, parent: 0, computedMs: 90_000 },
      { pid: 10, parent: 1, computedMs: 900 },
      { pid: 11, parent: 10, computedMs: 999 },
      { pid: 12, parent: 11, computedMs: 1_000 },
      { pid: 13, parent: 11, computedMs: 4_000 },
      { pid: 20, parent: 1, computedMs: 50_000 },
      // Processes that changed while they were read may go in a circle.
      { pid: 30, parent: 31, computedMs: 50_000 },
      { pid: 31, parent: 30, computedMs: 50_000 },
    ];
    expect(findLongRunning(processes, 10)).toEqual([
      { pid: 12, nice: 10 },
      { pid: 13, nice: 19 },
    ]);
  });

  it("goes by what the kernel says, whatever a process calls itself", () => {
    const rest = "S 7 1 1 0 -1 4194304 1 0 0 0 120 34 0 0 20 0 9 0 100";
    expect(parseStat(`42 (a b) c) ${rest}`)).toEqual({ pid: 42, parent: 7, computedMs: 1_540 });
    for (const text of ["", "42 (gone", "x (y) S z"]) expect(parseStat(text)).toBeNull();
  });

  it("is looked after less often where that takes long: the gateway waits meanwhile", () => {
    expect([0, 5, 70].map(pauseAfterCheck)).toEqual([250, 250, 3_500]);
  });
});
