import { describe, expect, it } from "vitest";
import { cutAt, type Outcome } from "../support.ts";
import { stream } from "./fake.ts";
import { createDecoder, data, ends, run, says } from "./stream.ts";

const FIRST = "gw8k2mq7xl3rt9wn";

/** What only this protocol has. What every decoder must do is tested in `../decoders.test.ts`. */
describe("decoding streamed contents", () => {
  describe("finds an error without `data:`", () => {
    const error = { status: "RESOURCE_EXHAUSTED", message: 'no } or "\\{' };
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" };
    const bare = JSON.stringify({ error: { ...error, details: [retry] } }, null, 1);

    it("for any split, as the first item and after others", () => {
      for (const before of ["", says([{ text: "Hi" }]), says([{ text: "Hi" }]).replaceAll("\n", "\r\n")]) {
        const bytes = new TextEncoder().encode(before + bare);
        for (let at = 0; at < bytes.length; at += 1) {
          expect(run(...cutAt(bytes, [at])), `cut at ${at}`).toMatchObject({ failure: "rate_limited" });
        }
        expect(run(...cutAt(bytes, [...bytes.keys()])).failure).toBe("rate_limited");
      }
    });

    it("as soon as it is complete", () => {
      const decoder = createDecoder();
      const failed = expect.objectContaining({ kind: "rate_limited", isErrorEvent: true, retryAfter: 2 });
      const push = (text: string) => decoder.push(new TextEncoder().encode(text));
      expect(push(bare.slice(0, -1))).toEqual([]);
      expect(() => push("}")).toThrow(failed);
    });

    it("only at the beginning of a line, and only if it is complete", () => {
      expect(
        run(says([{ text: "Hi" }]), ` ${bare.replaceAll("\n", "")}\n\n`, ends("STOP")).failure,
      ).toBeNull();
      expect(run(says([{ text: "Hi" }]), bare.slice(0, -1)).failure).toBe("cut");
      expect(run(says([{ text: "Hi" }]), '{"other":1}\n\n', ends("STOP")).failure).toBeNull();
      expect(run(says([{ text: "Hi" }]), "{oops\n\n", ends("STOP")).failure).toBeNull();
    });
  });

  it("places grounded sentences in the text, whose segments count bytes", () => {
    const said = "Grüße! 😀 It is noon in Ørsta.";
    const citations = run(stream("search")).events.flatMap((one) => (one.type === "citation" ? [one] : []));
    expect(citations.map(({ title }) => title)).toEqual(["time.example", "clock.example"]);
    for (const { claim, start, end } of citations) {
      expect(said.slice(claim?.start, claim?.end)).toBe("It is noon in Ørsta.");
      expect([start, end]).toEqual([said.length, said.length]);
    }
  });

  it("returns at most 1,000 references to pages", () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: "https://a.example" } }],
      groundingSupports: [
        { segment: { endIndex: 2 }, groundingChunkIndices: Array(700).fill(0) },
        { segment: { startIndex: 2, endIndex: 4 }, groundingChunkIndices: Array(700).fill(0) },
        { segment: { startIndex: 4, endIndex: 6 }, groundingChunkIndices: [0] },
      ],
    };
    const { events } = run(says([{ text: "Grüße!" }], { groundingMetadata }), ends("STOP"));
    expect(events.filter(({ type }) => type === "citation")).toHaveLength(1000);
  });

  it("returns calls before an answer is cut or withheld, and the reason", () => {
    const call = says([{ functionCall: { name: "f", args: { a: 1 } } }]);
    for (const [said, reason] of [
      ["STOP", "tool_calls"],
      ["MAX_TOKENS", "length"],
      ["SAFETY", "content_filter"],
    ] as const) {
      expect(run(call, ends(said)).events).toEqual([
        { type: "start", messageId: "r" },
        { type: "tool-call", index: 0, id: "call_made1", name: "f" },
        { type: "tool-arguments", index: 0, delta: '{"a":1}' },
        { type: "tool-call-end", index: 0 },
        { type: "finish", reason },
      ]);
    }
  });

  it("creates ids for calls with a shared, missing or guessable id", () => {
    const call = (id?: string) => ({ functionCall: { id, name: "f" }, thoughtSignature: "c2VhbGVk" });
    const { events, remembered } = run(
      says([call(FIRST), call(FIRST), call(), call("8f2b1a3c")]),
      ends("STOP"),
    );
    const ids = events.flatMap((one) => (one.type === "tool-call" ? [one.id] : []));
    expect(ids).toEqual([FIRST, "call_made1", "call_made2", "call_made3"]);
    expect(Object.keys(remembered)).toEqual(ids);
    expect(events.filter(({ type }) => type === "tool-call-end").length).toBe(4);
  });

  it("ignores further candidates, and parts of an unknown kind", () => {
    expect(run("data: [DONE]\n\n").failure).toBe("cut");
    const others = says([{ text: "no" }], { index: 1 }) + data({}) + says([{ inlineData: {} }, null, "x"]);
    expect(run(says([{ text: "yes" }], { index: 0 }), others, ends("STOP")).events).toEqual([
      { type: "start", messageId: "r" },
      { type: "text", text: "yes" },
      { type: "finish", reason: "stop" },
    ]);
  });

  describe("a call whose arguments come in pieces", () => {
    const part = (functionCall: object, more: object = {}) => says([{ functionCall, ...more }]);
    const pieces = (...partialArgs: object[]) => part({ partialArgs, willContinue: true });
    const begun = part({ id: FIRST, name: "get", willContinue: true }, { thoughtSignature: "c2VhbGVk" });
    const argsOf = ({ events }: Outcome) =>
      events.flatMap((one) => (one.type === "tool-arguments" ? [JSON.parse(one.delta)] : []));

    it("is one call with all of them", () => {
      const outcome = run(
        begun,
        pieces({ jsonPath: "$.city", stringValue: "New ", willContinue: true }),
        pieces({ jsonPath: "$.city", stringValue: "York", willContinue: true }, { jsonPath: "$.city" }),
        pieces({ jsonPath: "$.days[1]", numberValue: 2 }, { jsonPath: "$.days[0]", numberValue: 1.5 }),
        pieces(
          { jsonPath: "$.at[0].x", boolValue: false },
          { jsonPath: '$[\'a.b\']["c\\"d"]', nullValue: null },
        ),
        pieces({ jsonPath: "$.__proto__.x", stringValue: "y" }),
        part({}),
        ends("STOP"),
      );
      expect(outcome.remembered).toEqual({ [FIRST]: "c2VhbGVk" });
      const args =
        '{"city":"New York","days":[1.5,2],"at":[{"x":false}],"a.b":{"c\\"d":null},"__proto__":{"x":"y"}}';
      expect(outcome.events).toEqual([
        { type: "start", messageId: "r" },
        { type: "tool-call", index: 0, id: FIRST, name: "get" },
        { type: "tool-arguments", index: 0, delta: args },
        { type: "tool-call-end", index: 0 },
        { type: "finish", reason: "tool_calls" },
      ]);
    });

    it("ends at its end mark, or when another call begins", () => {
      const one = { jsonPath: "$.n", numberValue: 1 };
      const last = part({ partialArgs: [one] });
      expect(argsOf(run(begun, last, ends("STOP")))).toEqual([{ n: 1 }]);
      expect(argsOf(run(part({ name: "get", partialArgs: [one] }), ends("STOP")))).toEqual([{ n: 1 }]);
      expect(argsOf(run(begun, part({}), ends("STOP")))).toEqual([{}]);
      const next = part({ name: "get", args: { n: 2 } });
      expect(argsOf(run(begun, pieces(one), next, ends("STOP")))).toEqual([{ n: 1 }, { n: 2 }]);
      expect(argsOf(run(begun, pieces(one), part({ args: { n: 3 } }), ends("STOP")))).toEqual([{ n: 3 }]);
    });

    it.each(["STOP", "MAX_TOKENS"])("has no end if the answer ends within it (%s)", (reason) => {
      const { events } = run(begun, pieces({ jsonPath: "$.n", numberValue: 1 }), ends(reason));
      expect(events.map(({ type }) => type)).toEqual(["start", "tool-call", "finish"]);
    });

    it.each(["", "n", "$", "$n", "$.n[", "$.n[*]", "$..n", "$.n[-1]", `$${".n".repeat(101)}`, 1, null])(
      "is malformed with the path %j",
      (jsonPath) => {
        expect(run(begun, pieces({ jsonPath, numberValue: 1 }), ends("STOP")).failure).toBe("malformed");
      },
    );
  });
});
