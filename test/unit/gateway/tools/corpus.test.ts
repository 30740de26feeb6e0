import { describe, expect, it, vi } from "vitest";
import { accepted, cases, truncated } from "./corpus.ts";
import { assertInvariant, leftOut, scanWhole } from "./support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const seed = Number(process.env["TOOLS_SEED"] ?? Date.now() % 2 ** 31);
console.info(`corpus seed ${seed}`);

describe("every case of the corpus", () => {
  it.each(cases.map((one) => [one.name, one] as const))("streams: %s", (_name, one) => {
    assertInvariant(one.input, one.tools, { text: one.text, calls: one.calls }, seed);
  });

  it.each(cases.map((one) => [one.name, one] as const))("as a whole: %s", (_name, one) => {
    const { text, calls } = one.whole ?? one;
    expect(scanWhole(one.input, one.tools)).toEqual({ text, calls: calls.map(leftOut) });
  });

  it.each(truncated.map((one) => [one.name, one] as const))("cut off: %s", (_name, one) => {
    const { text, calls } = one.off ?? one;
    assertInvariant(one.input, one.tools, { text, calls }, seed, true);
    expect(scanWhole(one.input, one.tools, true)).toEqual({ text, calls: calls.map(leftOut) });
  });

  it.each(accepted.map((one) => [one.name, one] as const))("between prose: %s", (_name, one) => {
    const { text, calls } = scanWhole(`Prose first.\n\n${one.input}\n\nand last.`, one.tools);
    expect(calls).toEqual(one.calls);
    expect(text).toMatch(/^Prose first\.\n\n[\s\S]*and last\.$/);
  });
});
