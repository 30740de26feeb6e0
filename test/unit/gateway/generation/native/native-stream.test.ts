import * as fc from "fast-check";
import { expect, it } from "vitest";
import { NativeStream } from "../../../../../src/gateway/generation/native/native-stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A line break and a blank line, of the same kind or of two kinds. */
const eventEnd = fc.constantFrom("\n\n", "\r\n\r\n", "\r\r", "\n\r\n", "\r\n\n");
const events = fc.oneof(
  fc.constant(": comment"),
  fc
    .oneof(fc.string({ unit: "grapheme" }), fc.constant("\u2028\u2029"))
    .map((text) => `data: ${JSON.stringify({ model: "vendor", text })}`),
);
const streams = fc
  .array(fc.tuple(events, eventEnd), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.flat().join(""));

function run(bytes: Uint8Array, cuts: readonly number[], hasContent: boolean, model: string): string {
  const stream = new NativeStream({
    modelPaths: [["model"]],
    model,
    hidesUsageEvent: false,
    continued: null,
  });
  const sorted = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  let text = "";
  for (const [index, end] of sorted.slice(1).entries()) {
    const leaving = decoder.decode(stream.push(bytes.subarray(sorted[index], end), hasContent));
    if (leaving !== "") expect(leaving).toMatch(/(?:\n\r?\n|\r\r)$/);
    text += leaving;
  }
  return text + decoder.decode(stream.finish());
}

it("passes on whole events for any split, and changes only the model's name", async () => {
  await fc.assert(
    fc.property(streams, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (text, cuts, hasContent) => {
      const bytes = encoder.encode(text);
      expect(run(bytes, cuts, hasContent, "vendor")).toBe(text);
      expect(run(bytes, cuts, hasContent, "mine")).toBe(
        text.replaceAll('"model":"vendor"', '"model":"mine"'),
      );
    }),
  );
});

it.each(["\n", "\r\n", "\r"])("edits events whose JSON has several lines of data: %j", (end) => {
  const stream = new NativeStream({
    modelPaths: [["model"]],
    model: "mine",
    hidesUsageEvent: true,
    continued: null,
  });
  const push = (...lines: readonly string[]) =>
    decoder.decode(stream.push(encoder.encode(lines.map((line) => line + end).join("") + end), true));
  const delta = 'data:"choices":[{"delta":{"content":"Hi"}}]}';
  expect(push("event: x", 'data: {"model":"vendor",', delta)).toBe(
    `event: x\ndata: {"model":"mine", ${delta.slice(5)}${end}${end}`,
  );
  expect(push('data: {"created":1,', "id: 7", 'data: "model":"vendor"}')).toContain('"model":"mine"');
  expect(push('data: {"model":"vendor","choices":', "data:[],", 'data: "usage":{"prompt_tokens":7}}')).toBe(
    "",
  );
  const other = ["data: not", "data: JSON"];
  expect(push(...other)).toBe(other.map((line) => line + end).join("") + end);
});

it("holds events before the first content", () => {
  const options = { modelPaths: [], model: "m", hidesUsageEvent: false, continued: null };
  const stream = new NativeStream(options);
  expect(stream.push(encoder.encode("data: {}\n\n"), false)).toHaveLength(0);
  expect(decoder.decode(stream.push(encoder.encode("data: 1\n\ndata:"), true))).toBe(
    "data: {}\n\ndata: 1\n\n",
  );
  expect(decoder.decode(stream.finish())).toBe("data:\n\n");
});
