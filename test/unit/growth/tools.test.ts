import { describe, expect, it, vi } from "vitest";
import { ToolScanner } from "../../../src/tools/scanner.ts";
import { DEGENERATE, pieces } from "../../support/degenerate.ts";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";
import { TYPED } from "../tools/support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const open = '<tool_calls><invoke name="write"><parameter name="';
const HEADS: readonly (readonly [string, string])[] = [
  ["in text", ""],
  ["in a string", `${open}content">`],
  ["in a value of any type", `${open}other">`],
  ["in CDATA of any type", `${open}other"><![CDATA[`],
  ["in a JSON body", '<tool_calls><invoke name="now">{"a":"'],
  ["in an invoke without a wrapper", '<invoke name="write"><parameter name="other"><![CDATA['],
];

describe.each(HEADS)("the tool scanner, %s", (_where, head) => {
  it.each(DEGENERATE)("%s", async (_name, text) => {
    const growth = await growthOf((n) => {
      const units = pieces(text(n), 1);
      return () => {
        const scanner = new ToolScanner({ tools: TYPED });
        scanner.push(head);
        for (const unit of units) scanner.push(unit);
        return scanner.finish();
      };
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

it.each(DEGENERATE)("the tool scanner, with a whole answer at hand: %s", async (_name, text) => {
  for (const head of ["", `${open}other"><![CDATA[`]) {
    const growth = await growthOf((n) => {
      const input = head + text(n);
      return () => {
        const scanner = new ToolScanner({ tools: TYPED, whole: true });
        scanner.push(input);
        return scanner.finish();
      };
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  }
});
