import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompletionStreamDecoder } from "../../../../../src/gateway/providers/openai/decoder.ts";
import { type Outcome, runWith, utf8 } from "../support.ts";

import { call, calls, chunk, context, createWholeDecoder, DONE, run } from "./stream.ts";

describe("native tool calls", () => {
  const end = chunk({}, "tool_calls") + DONE;

  it("stream their arguments, the second call's too", () => {
    const first = call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } });
    const second = call({ index: 1, id: "b", function: { name: "g", arguments: "{" } });
    const decoder = new CompletionStreamDecoder(context());
    decoder.push(utf8(first));
    expect(decoder.push(utf8(second))).toEqual([
      { type: "tool-call-end", index: 0 },
      { type: "tool-call", index: 1, id: "b", name: "g" },
      { type: "tool-arguments", index: 1, delta: "{" },
    ]);
  });

  it.each<[string, string[], string[]]>([
    [
      "whole calls in one delta",
      [
        call(
          { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
          { index: 1, id: "b", function: { name: "f", arguments: '{"n":1}' } },
        ),
      ],
      ["0 a f", "0+{}", "1 b f", '1+{"n":1}'],
    ],
    [
      "indices that start at 1",
      [
        call({ index: 1, id: "a", function: { name: "f", arguments: "{}" } }),
        call({ index: 2, id: "b", function: { name: "g", arguments: "{}" } }),
      ],
      ["0 a f", "0+{}", "1 b g", "1+{}"],
    ],
    [
      "no indices",
      [
        call({ id: "a", function: { name: "f", arguments: "{" } }),
        call({ function: { arguments: "}" } }),
        call({ id: "b", function: { name: "f", arguments: "{}" } }),
      ],
      ["0 a f", "0+{", "0+}", "1 b f", "1+{}"],
    ],
    [
      "one index for all calls",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
        call({ index: 0, id: "b", function: { name: "f", arguments: "{}" } }),
      ],
      ["0 a f", "0+{}", "1 b f", "1+{}"],
    ],
    [
      "no ids and one index for all calls",
      [
        call({ index: 0, function: { name: "f", arguments: "{}" } }),
        call({ index: 0, function: { name: "g", arguments: "{}" } }),
      ],
      ["0 call_made1 f", "0+{}", "1 call_made2 g", "1+{}"],
    ],
    [
      "neither ids nor indices",
      [
        call({ function: { name: "f", arguments: '{"a":1}' } }),
        call({ function: { name: "f", arguments: '{"a":2}' } }),
      ],
      ["0 call_made1 f", '0+{"a":1}', "1 call_made2 f", '1+{"a":2}'],
    ],
    [
      "id and name repeated in each piece",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: '{"a"' } }),
        call({ index: 0, id: "a", function: { name: "f", arguments: ":1}" } }),
      ],
      ["0 a f", '0+{"a"', "0+:1}"],
    ],
    [
      "the name repeated in each piece and no id",
      [
        call({ index: 0, function: { name: "f", arguments: '{"a"' } }),
        call({ index: 0, function: { name: "f", arguments: ":1}" } }),
      ],
      ["0 call_made1 f", '0+{"a"', "0+:1}"],
    ],
    [
      "the same id for two calls",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
        call({ index: 1, id: "a", function: { name: "g", arguments: "{}" } }),
      ],
      ["0 a f", "0+{}", "1 call_made1 g", "1+{}"],
    ],
    [
      "a name that comes after the id",
      [
        call({ index: 0, id: "a", function: { arguments: "" } }),
        call({ index: 0, function: { name: "f", arguments: "{}" } }),
      ],
      ["0 a f", "0+{}"],
    ],
    [
      "an id that comes after the name",
      [
        call({ index: 0, id: null, function: { name: "f", arguments: "" } }),
        call({ index: 0, id: "", function: { arguments: "{}" } }),
      ],
      ["0 call_made1 f", "0+{}"],
    ],
    [
      "arguments that are an object",
      [call({ index: 0, id: "a", function: { name: "f", arguments: { q: "x" } } })],
      ["0 a f", '0+{"q":"x"}'],
    ],
    ["no arguments", [call({ index: 0, id: "a", function: { name: "f" } })], ["0 a f", "0+{}"]],
    [
      "blank arguments",
      [call({ index: 0, id: "a", function: { name: "f", arguments: "" } })],
      ["0 a f", "0+{}"],
    ],
    [
      "the retired function_call",
      [chunk({ function_call: { name: "f", arguments: "{" } }), chunk({ function_call: { arguments: "}" } })],
      ["0 call_made1 f", "0+{", "0+}"],
    ],
  ])("are understood with %s", (_habit, chunks, expected) => {
    const answer = run(...chunks, end);
    expect(answer.failure).toBeNull();
    expect(calls(answer)).toEqual(expected);
  });

  it("end before anything else follows", () => {
    const whole = call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } });
    for (const other of [{ content: "and" }, { reasoning_content: "so" }]) {
      const types = run(whole, chunk(other), end).events.map(({ type }) => type);
      expect(types.slice(1, 4)).toEqual(["tool-call", "tool-arguments", "tool-call-end"]);
    }
  });

  describe("that were cut off", () => {
    const whole = call({ index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } });
    const piece = (text: string) => call({ index: 1, id: "b", function: { name: "g", arguments: text } });
    const ended = (...chunks: string[]) =>
      run(...chunks, DONE).events.flatMap((one) => (one.type === "tool-call-end" ? [one.index] : []));

    it.each(["length", "content_filter", "tool_calls", "stop"])("have no end at %s", (reason) => {
      for (const text of ['{"y":', '{"y":"rm -rf /tmp/ca', "[1]", '"{}"', "oops", '{"y":1} or so']) {
        expect(ended(whole, piece(text), chunk({}, reason)), text).toEqual([0]);
      }
    });

    it("have no end without a name", () => {
      const nameless = call({ index: 1, id: "b", function: { arguments: "" } });
      expect(ended(whole, nameless, chunk({}, "length"))).toEqual([0]);
    });
  });

  describe("of custom tools", () => {
    /** The input of the only call, and whether the call ended. */
    const inputOf = ({ events }: { readonly events: readonly { readonly type: string }[] }) => {
      const text = events.map((event) => ("delta" in event ? event.delta : "")).join("");
      return [JSON.parse(text), events.some(({ type }) => type === "tool-call-end")];
    };

    it("have their text as input, wherever its pieces are cut", () => {
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, at) => {
          const cut = text.length === 0 ? 0 : at % text.length;
          const first = {
            index: 0,
            id: "a",
            type: "custom",
            custom: { name: "f", input: text.slice(0, cut) },
          };
          const outcome = run(call(first), call({ index: 0, custom: { input: text.slice(cut) } }), end);
          expect(inputOf(outcome)).toEqual([{ input: text }, true]);
        }),
      );
    });

    it("stand beside calls of functions, streamed and whole", () => {
      const made = [
        { index: 0, id: "a", type: "custom", custom: { name: "f", input: 'say "hi"' } },
        { index: 1, id: "b", type: "function", function: { name: "g", arguments: "{}" } },
        { index: 2, id: "c", type: "custom", custom: { name: "f", input: "" } },
      ];
      /** Name and arguments of each call. */
      const callsOf = (outcome: Outcome) => {
        const found: string[][] = [];
        for (const event of outcome.events) {
          if (event.type === "tool-call") found.push([event.name, ""]);
          if (event.type === "tool-arguments") found[event.index]?.push(event.delta);
        }
        return found.map(([name, ...pieces]) => [name, pieces.join("")]);
      };
      const expected = [
        ["f", JSON.stringify({ input: 'say "hi"' })],
        ["g", "{}"],
        ["f", '{"input":""}'],
      ];
      expect(callsOf(run(...made.map((one) => call(one)), end))).toEqual(expected);
      const message = { role: "assistant", tool_calls: made.map(({ index: _, ...one }) => one) };
      const text = JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
      expect(callsOf(runWith(createWholeDecoder)(text))).toEqual(expected);
    });

    it("have no end if the answer is cut off", () => {
      const begun = call({ index: 0, id: "a", type: "custom", custom: { name: "f", input: "half a" } });
      const { events } = run(begun, chunk({}, "length") + DONE);
      expect(events.map(({ type }) => type)).not.toContain("tool-call-end");
    });
  });

  it("keep the digits of numbers", () => {
    const text = '{"n":123456789012345678901234567890,"f":1.0}';
    expect(calls(run(call({ index: 0, id: "a", function: { name: "f", arguments: text } }), end))[1]).toBe(
      `0+${text}`,
    );
  });

  it("are complete, in order and with distinct ids for any interleaving", () => {
    const made = fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z]{1,5}$/),
        args: fc.dictionary(fc.string(), fc.jsonValue()),
      }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(made, fc.infiniteStream(fc.nat(9)), (wanted, dice) => {
        const rest = wanted.map(({ name, args }, index) => ({
          index,
          name,
          text: JSON.stringify(args),
          begun: false,
        }));
        const chunks: string[] = [];
        let open = 0;
        while (rest.some((one) => !one.begun || one.text !== "")) {
          const roll = dice.next().value ?? 0;
          // Calls begin in order; after that any of them may go on.
          const one = rest[roll % (open + 1)];
          if (one === undefined) continue;
          const piece = one.text.slice(0, 1 + roll);
          const head = one.begun ? {} : { id: `id${one.index}`, type: "function" };
          const name = one.begun ? {} : { name: one.name };
          chunks.push(call({ index: one.index, ...head, function: { ...name, arguments: piece } }));
          one.begun = true;
          one.text = one.text.slice(piece.length);
          if (rest[open]?.begun && open < rest.length - 1) open += 1;
        }
        const { events, failure } = run(...chunks, end);
        expect(failure).toBeNull();
        const announced = events.flatMap((event) => (event.type === "tool-call" ? [event] : []));
        expect(announced.map(({ index, name }) => [index, name])).toEqual(
          wanted.map(({ name }, index) => [index, name]),
        );
        expect(new Set(announced.map(({ id }) => id)).size).toBe(wanted.length);
        const inOrder = events.flatMap((event) =>
          event.type === "tool-call" || event.type === "tool-arguments" ? [event.index] : [],
        );
        expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
        wanted.forEach(({ args }, index) => {
          const text = events
            .map((e) => (e.type === "tool-arguments" && e.index === index ? e.delta : ""))
            .join("");
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(args)));
        });
      }),
    );
  });
});

describe("native tool calls of a whole answer", () => {
  const read = (reason: string, ...made: unknown[]) =>
    runWith(createWholeDecoder)(
      JSON.stringify({
        id: "c1",
        choices: [{ index: 0, message: { tool_calls: made }, finish_reason: reason }],
      }),
    );
  const made = (name: string, text: string, more: object = { id: "a" }) => ({
    ...more,
    type: "function",
    function: { name, arguments: text },
  });

  it.each<[string, unknown[], string[]]>([
    [
      "share an id",
      [made("f", '{"n":1}'), made("g", '{"n":2}'), made("f", '{"n":3}')],
      ["0 a f", '0+{"n":1}', "1 call_made1 g", '1+{"n":2}', "2 call_made2 f", '2+{"n":3}'],
    ],
    [
      "share an id, and the first has no arguments",
      [made("f", ""), made("g", '{"n":[1,2]}')],
      ["0 a f", "0+{}", "1 call_made1 g", '1+{"n":[1,2]}'],
    ],
    [
      "share an id and an index",
      [made("f", '{"n":1}', { id: "a", index: 0 }), made("f", '{"n":2}', { id: "a", index: 0 })],
      ["0 a f", '0+{"n":1}', "1 call_made1 f", '1+{"n":2}'],
    ],
    [
      "have no id and no arguments",
      [made("f", "", {}), made("f", "", {})],
      ["0 call_made1 f", "0+{}", "1 call_made2 f", "1+{}"],
    ],
  ])("are calls of their own if they %s", (_habit, entries, expected) => {
    for (const reason of ["tool_calls", "stop"]) {
      const answer = read(reason, ...entries);
      expect(answer.failure).toBeNull();
      expect(calls(answer)).toEqual(expected);
      const ended = answer.events.filter(({ type }) => type === "tool-call-end");
      expect(ended).toHaveLength(entries.length);
    }
  });

  it("have no end if the answer was cut off within the last one", () => {
    const { events } = read("length", made("f", '{"n":1}'), made("g", '{"n'));
    expect(events.filter(({ type }) => type === "tool-call-end")).toEqual([
      { type: "tool-call-end", index: 0 },
    ]);
  });
});
