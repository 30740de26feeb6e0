import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../../../src/gateway/providers/answers/provider-events.ts";
import { anthropicDecoder } from "./anthropic/decoder-row.ts";
import { geminiDecoder } from "./gemini/decoder-row.ts";
import { openaiDecoder } from "./openai/decoder-row.ts";
import { openaiResponsesDecoder } from "./openai-responses/decoder-row.ts";
import { sessionsDecoder } from "./sessions/decoder-row.ts";
import { cutAt, runWith, SECRET, textOfEvents, utf8 } from "./support.ts";

/** What every decoder must do. What only one protocol has is tested in `<driver>/decoder.test.ts`. */
const ROWS = [openaiDecoder, openaiResponsesDecoder, anthropicDecoder, geminiDecoder, sessionsDecoder];

const ofType = (events: readonly ProviderEvent[], ...types: readonly ProviderEvent["type"][]) =>
  events.filter(({ type }) => types.includes(type));

/** What an answer means, whatever the sizes of its deltas. */
const meaningOf = (events: readonly ProviderEvent[]) => ({
  reasoning: textOfEvents(events, "reasoning"),
  text: textOfEvents(events, "text"),
  calls: ofType(events, "tool-call", "tool-call-end"),
  arguments: events.flatMap((event) => (event.type === "tool-arguments" ? [event.delta] : [])).join(""),
  rest: ofType(events, "start", "usage", "finish"),
});

describe.each(ROWS)("the $name decoder", (row) => {
  const run = runWith(row.createDecoder);

  describe("reads an answer", () => {
    it("with its reasoning, text and calls in order, and the usage before the end", () => {
      expect(run(row.mixed.stream)).toMatchObject({ failure: null, events: row.mixed.events });
    });

    it("for any split of the bytes", () => {
      const bytes = utf8(row.mixed.stream);
      const whole = run(bytes);
      // Longer streams are cut at every few bytes, because the time grows with the square of the length.
      const step = Math.ceil(bytes.length / 3_000);
      for (let offset = 0; offset <= bytes.length; offset += step) {
        expect(run(...cutAt(bytes, [offset])), `cut at ${offset}`).toEqual(whole);
      }
      expect(run(...cutAt(bytes, [...bytes.keys()]))).toEqual(whole);
    });

    it("without ids, counts and names", () => {
      expect(run(row.bare.stream)).toMatchObject({ failure: null, events: row.bare.events });
    });

    it("in which a byte is broken", () => {
      const bytes = utf8(row.says("a?b") + row.end);
      bytes[bytes.indexOf("?".charCodeAt(0))] = 0xff;
      const { events, failure } = run(bytes);
      expect([failure, textOfEvents(events, "text")]).toEqual([null, "a\ufffdb"]);
    });

    it("with the end mark of another protocol behind it", () => {
      expect(run(row.mixed.stream, "\n\ndata: [DONE]\n\n")).toEqual(run(row.mixed.stream));
    });

    it.each(row.ends)("that ends for the reason $said as $reason", ({ stream, reason }) => {
      expect(run(stream).events.at(-1)).toEqual({ type: "finish", reason });
    });
  });

  describe("calls an answer cut", () => {
    it("that ends anywhere before it is complete", () => {
      const stream = row.says("Grüße 😀") + row.end;
      const bytes = utf8(stream);
      const last = utf8(stream.slice(0, stream.lastIndexOf("}"))).length;
      for (let length = 0; length <= last; length += 1) {
        expect(run(bytes.subarray(0, length)).failure, `after ${length} bytes`).toBe("cut");
      }
      expect(run(bytes.subarray(0, last + 1)).failure).toBeNull();
    });
  });

  describe("fails at an error within a stream", () => {
    it.each(row.failures)("after the events before it: $what, $kind", ({ event, kind }) => {
      const bytes = utf8(row.says("so far") + event);
      for (const offset of [0, row.says("so far").length, bytes.length - 3]) {
        const { events, failure } = run(...cutAt(bytes, [offset]));
        expect([failure, textOfEvents(events, "text")]).toEqual([kind, "so far"]);
      }
    });

    it("at once, although events came in the same read", () => {
      const decoder = row.createDecoder();
      const failed = expect.objectContaining({ kind: "invalid_request" });
      expect(textOfEvents(decoder.push(utf8(row.says("x") + row.fails("no"))), "text")).toBe("x");
      expect(decoder.failure).toEqual(failed);
      expect(() => decoder.push(utf8(": more\n\n"))).toThrow(failed);
      expect(() => decoder.finish()).toThrow(failed);
    });

    it("without the account's token in the message", () => {
      const event = utf8(row.fails(`bad token ${SECRET}\nsecond line`));
      expect(() => row.createDecoder().push(event)).toThrow(
        "the provider says: bad token [masked] second line",
      );
    });
  });

  it.each(row.malformed)("calls a stream malformed that has %s", (_, event) => {
    expect(run(row.says("x"), event, row.end).failure).toBe("malformed");
  });

  describe("reads the counts", () => {
    it.each(row.counts)("%s", (_, stream, usage) => {
      expect(ofType(run(stream).events, "usage")).toEqual([{ type: "usage", usage }]);
    });

    const early = row.earlyCounts === null ? [] : [row.earlyCounts];
    it.each(early)("%s at once, because a stream that breaks off has no end", (_, stream, usage) => {
      const { events, failure } = run(stream);
      expect(failure).toBe("cut");
      expect(events).toContainEqual({ type: "usage", usage });
    });
  });

  const logprobs = row.logprobs === null ? [] : [row.logprobs];
  it.each(logprobs)("reads log probabilities before the text: %s", (_, stream, expected) => {
    expect(ofType(run(stream).events, "reasoning", "tokens", "text")).toEqual(expected);
  });

  it.each(row.citations)("places citations in the text: %s", (_, stream, expected) => {
    expect(ofType(run(stream).events, "citation")).toEqual(expected);
  });

  it.each(row.remembered)("remembers the reasoning before each call: %s", (_, stream, expected) => {
    expect(run(stream)).toMatchObject({ failure: null, remembered: expected });
    expect(Object.keys(run(stream).remembered)).toEqual(Object.keys(expected));
  });

  if (row.calls !== null) {
    const { begin, opens, adds, closes, complete, cut } = row.calls;
    /** The calls that came to their end. */
    const ended = (...pieces: string[]) =>
      run(begin, ...pieces).events.flatMap((event) => (event.type === "tool-call-end" ? [event.index] : []));

    describe("reads calls", () => {
      it("one after the other, although they are interleaved", () => {
        const { events } = run(
          begin,
          opens(0) + opens(1),
          adds(1, '{"b":') + adds(0, '{"a":') + adds(1, "2}") + adds(0, "1}"),
          closes(0, '{"a":1}') + closes(1, '{"b":2}'),
          complete,
        );
        expect(ofType(events, "tool-call", "tool-arguments", "tool-call-end")).toEqual([
          { type: "tool-call", index: 0, id: "c0", name: "f" },
          { type: "tool-arguments", index: 0, delta: '{"a":' },
          { type: "tool-arguments", index: 0, delta: "1}" },
          { type: "tool-call-end", index: 0 },
          { type: "tool-call", index: 1, id: "c1", name: "f" },
          { type: "tool-arguments", index: 1, delta: '{"b":2}' },
          { type: "tool-call-end", index: 1 },
        ]);
      });

      it("although the backend states that the answer stopped", () => {
        const { events } = run(begin, opens(0) + adds(0, "{}") + closes(0, "{}"), row.end);
        expect(events.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
      });
    });

    describe("gives a call that was cut off", () => {
      const first = opens(0) + adds(0, "{}") + closes(0, "{}");
      const second = opens(1) + adds(1, '{"a":');

      const ends = [...cut, ["calls", complete], ["stop", row.end]] as const;
      it.each(ends)("no end, and those before it one: %s", (_, end) => {
        expect(ended(first, second, end)).toEqual([0]);
        expect(ended(first, second + closes(1, '{"a":'), end)).toEqual([0]);
      });

      it.each(cut)("an end if its arguments are complete: %s", (_, end) => {
        expect(ended(first, opens(1) + adds(1, '{"a":1}'), end)).toEqual([0, 1]);
      });

      it.each(cut)("no end if its arguments have not begun, unless another call follows: %s", (_, end) => {
        expect(ended(opens(0) + closes(0, ""), end)).toEqual([]);
        expect(ended(opens(0) + closes(0, ""), opens(1) + closes(1, ""), end)).toEqual([0]);
        expect(ended(opens(0) + closes(0, ""), complete)).toEqual([0]);
      });
    });
  }

  if (row.whole !== null) {
    const whole = row.whole;
    const runWhole = (answer: object | string) =>
      runWith(whole.createDecoder)(typeof answer === "string" ? answer : JSON.stringify(answer));

    describe("reads an answer in one piece", () => {
      it("with the same result as a stream, for any split of the bytes", () => {
        const { events, failure } = runWhole(whole.mixed);
        expect(failure).toBeNull();
        const meaning = meaningOf(row.mixed.events);
        expect({ ...meaningOf(events), arguments: "" }).toEqual({ ...meaning, arguments: "" });
        expect(meaningOf(events).arguments.replaceAll(": ", ":")).toBe(
          meaning.arguments.replaceAll(": ", ":"),
        );
        const bytes = utf8(whole.mixed);
        for (const offset of bytes.keys()) {
          expect(runWith(whole.createDecoder)(...cutAt(bytes, [offset])).events).toEqual(events);
        }
      });

      const ends = row.ends.flatMap(({ whole: answer, ...rest }) =>
        answer === null ? [] : [{ answer, ...rest }],
      );
      it.each(ends)("that ends for the reason $said as $reason", ({ answer, reason }) => {
        expect(runWhole(answer).events.at(-1)).toEqual({ type: "finish", reason });
      });

      const failures = row.failures.flatMap(({ whole: answer, ...rest }) =>
        answer === null ? [] : [{ answer, ...rest }],
      );
      it.each(failures)("that is the error $what: $kind", ({ answer, kind }) => {
        expect(runWhole(answer).failure).toBe(kind);
      });

      it.each([{}, ...whole.unfinished])("that has no end as cut: %j", (answer) => {
        expect(runWhole(answer).failure).toBe("cut");
      });

      it("that breaks off as malformed", () => {
        expect(runWhole(whole.mixed.slice(0, 100)).failure).toBe("malformed");
      });

      it("with content that is no object", () => {
        expect(runWhole(whole.strange).failure).toBeNull();
      });
    });
  }

  it("throws only provider errors, and reads any stream equally for any split", () => {
    fc.assert(
      fc.property(row.fuzzed, fc.array(fc.nat(400), { maxLength: 5 }), (stream, offsets) => {
        const bytes = typeof stream === "string" ? utf8(stream) : stream;
        const cuts = offsets.filter((offset) => offset <= bytes.length);
        expect(run(...cutAt(bytes, cuts))).toEqual(run(bytes));
      }),
      { numRuns: 150 },
    );
  });
});
