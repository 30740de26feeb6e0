import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ContentStreamDecoder,
  decodeWholeAnswer,
} from "../../../../../src/gateway/providers/gemini/decoder.ts";
import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/whole-answer.ts";
import { cutAt, decode, type Outcome, utf8, withLastCounts } from "../support.ts";
import { stream, whole } from "./fake.ts";

const FIRST = "gw8k2mq7xl3rt9wn";

function context() {
  let made = 0;
  const signatures = new Map<string, string>();
  return {
    secret: "token-of-the-account",
    newId: () => `made-${++made}`,
    rememberSignature: (callId: string, signature: string) => void signatures.set(callId, signature),
    signatures,
  };
}

function run(...pieces: readonly (string | Uint8Array)[]): Outcome & { signatures: unknown } {
  const heard = context();
  const bytes = pieces.map((piece) => (typeof piece === "string" ? utf8(piece) : piece));
  const outcome = withLastCounts(decode(new ContentStreamDecoder(heard), bytes));
  return { ...outcome, signatures: Object.fromEntries(heard.signatures) };
}

const runWhole = (answer: object | string) =>
  withLastCounts(
    decode(new WholeAnswerDecoder((content) => decodeWholeAnswer(content, context())), [
      utf8(typeof answer === "string" ? answer : JSON.stringify(answer)),
    ]),
  );

const data = (piece: unknown) => `data: ${JSON.stringify(piece)}\n\n`;
const says = (parts: readonly unknown[], more: object = {}) =>
  data({ candidates: [{ content: { parts }, ...more }], responseId: "r" });
const ends = (reason: string) => data({ candidates: [{ finishReason: reason }], responseId: "r" });

describe("decoding streamed contents", () => {
  it("reads text, with the last of the counts", () => {
    expect(run(stream("text"))).toEqual({
      failure: null,
      signatures: {},
      events: [
        { type: "start", messageId: "q7c_aN-2Mt3knvgP" },
        { type: "text", text: "Grüße" },
        { type: "text", text: ", 😀" },
        { type: "text", text: "!" },
        { type: "usage", usage: { prompt: 25, completion: 15 } },
        { type: "finish", reason: "stop" },
      ],
    });
  });

  it("tells what was thought before a call, sealed as it came", () => {
    expect(run(stream("tools")).signatures).toEqual({ [FIRST]: "CiQBcsjafOsealed+one==" });
  });

  it("reads the log probabilities of text", () => {
    const logprobsResult = {
      chosenCandidates: [{ token: "Hi", logProbability: -0.5, tokenId: 1 }],
      topCandidates: [{ candidates: [{ token: "Ho", logProbability: -1 }, { token: "Hm" }] }],
    };
    expect(run(says([{ text: "Hi" }], { logprobsResult }), ends("STOP")).events.slice(1, 3)).toEqual([
      {
        type: "tokens",
        tokens: [
          { token: "Hi", logprob: -0.5, bytes: null, top: [{ token: "Ho", logprob: -1, bytes: null }] },
        ],
      },
      { type: "text", text: "Hi" },
    ]);
  });

  it("places grounded sentences in the text, whose segments count bytes", () => {
    const said = "Grüße! 😀 It is noon in Ørsta.";
    const citations = run(stream("search")).events.flatMap((one) => (one.type === "citation" ? [one] : []));
    expect(citations.map(({ title }) => title)).toEqual(["time.example", "clock.example"]);
    for (const { claim, start, end } of citations) {
      expect(said.slice(claim?.start, claim?.end)).toBe("It is noon in Ørsta.");
      expect([start, end]).toEqual([said.length, said.length]);
    }
    const page = { groundingChunks: [{ web: { uri: "https://a.example" } }] };
    const support = { segment: { endIndex: 7 }, groundingChunkIndices: [0] };
    const groundingMetadata = { ...page, groundingSupports: [support] };
    expect(run(says([{ text: "Grüße!" }], { groundingMetadata }), ends("STOP")).events).toContainEqual({
      type: "citation",
      url: "https://a.example",
      title: "https://a.example",
      start: 5,
      end: 5,
      claim: { start: 0, end: 5 },
    });
  });

  it("tells of at most 1,000 references to pages", () => {
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

  it.each(["text", "thinking", "tools", "search"])(
    "reads the same of %s wherever the bytes are cut",
    (name) => {
      const bytes = utf8(stream(name));
      const entire = run(bytes);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (offsets) => {
          expect(run(...cutAt(bytes, offsets))).toEqual(entire);
        }),
        { numRuns: 20 },
      );
      expect(run(...cutAt(bytes, [...bytes.keys()]))).toEqual(entire);
    },
  );

  it("calls a stream cut that ends before it says why", () => {
    const bytes = utf8(stream("text"));
    const last = stream("text").lastIndexOf("}");
    const enough = utf8(stream("text").slice(0, last)).length;
    for (let length = 0; length <= enough; length += 5) {
      expect(run(bytes.subarray(0, length)).failure, `after ${length} bytes`).toBe("cut");
    }
    expect(run(bytes.subarray(0, enough + 1)).failure).toBeNull();
  });

  it.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["MALFORMED_FUNCTION_CALL", "length"],
    ["UNEXPECTED_TOOL_CALL", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["OTHER", "content_filter"],
    ["SOMETHING_NEW", "stop"],
  ])("reads the reason %s as %s", (said, reason) => {
    expect(run(says([{ text: "x" }]), ends(said)).events.at(-1)).toEqual({ type: "finish", reason });
    const candidates = [{ content: { parts: [{ text: "x" }] }, finishReason: said }];
    expect(runWhole({ candidates }).events.at(-1)).toEqual({ type: "finish", reason });
  });

  it("says that a prompt was blocked", () => {
    const promptFeedback = { blockReason: "SAFETY" };
    for (const { events, failure } of [run(data({ promptFeedback })), runWhole({ promptFeedback })]) {
      expect([failure, events.at(-1)]).toEqual([null, { type: "finish", reason: "content_filter" }]);
    }
  });

  it("tells calls that come before an answer is cut or withheld, and what cut it", () => {
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

  it("makes ids of their own for calls that share one, have none, or one that somebody else may have", () => {
    const call = (id?: string) => ({ functionCall: { id, name: "f" }, thoughtSignature: "c2VhbGVk" });
    const { events, signatures } = run(
      says([call(FIRST), call(FIRST), call(), call("8f2b1a3c")]),
      ends("STOP"),
    );
    const ids = events.flatMap((one) => (one.type === "tool-call" ? [one.id] : []));
    expect(ids).toEqual([FIRST, "call_made1", "call_made2", "call_made3"]);
    expect(Object.keys(Object(signatures))).toEqual(ids);
    expect(events.filter(({ type }) => type === "tool-call-end").length).toBe(4);
  });

  it.each([
    ["RESOURCE_EXHAUSTED", "rate_limited"],
    ["UNAVAILABLE", "model_unavailable"],
    ["INTERNAL", "server_error"],
    ["DEADLINE_EXCEEDED", "timeout"],
    ["PERMISSION_DENIED", "account_suspended"],
    ["INVALID_ARGUMENT", "invalid_request"],
    ["SOMETHING_NEW", "server_error"],
  ])("takes the error %s for %s, after what preceded it", (status, kind) => {
    const { events, failure } = run(says([{ text: "Hello" }]), data({ error: { status, message: "no" } }));
    expect(failure).toBe(kind);
    expect(events).toContainEqual({ type: "text", text: "Hello" });
    expect(runWhole({ error: { status, message: "no" } }).failure).toBe(kind);
  });

  it("forgives what compatible servers do differently", () => {
    expect(run(stream("text"), "data: [DONE]\n\n")).toEqual(run(stream("text")));
    expect(run("data: [DONE]\n\n").failure).toBe("cut");
    // Other candidates than the first, pieces without one, and parts of no known kind.
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
      expect(outcome.signatures).toEqual({ [FIRST]: "c2VhbGVk" });
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

    it("ends where it says so, or where another call begins", () => {
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

  it("calls broken pieces malformed", () => {
    expect(run("data: {oops}\n\n").failure).toBe("malformed");
    const nameless = { content: { parts: [{ functionCall: {} }] }, finishReason: "STOP" };
    expect(runWhole({ candidates: [nameless] }).failure).toBe("malformed");
  });

  it("never throws anything but a provider's failure, whatever the pieces", () => {
    const value = fc.jsonValue();
    const part = fc.record(
      { text: value, thought: value, thoughtSignature: value, functionCall: value },
      { requiredKeys: [] },
    );
    const candidate = fc.record(
      {
        content: fc.oneof(fc.record({ parts: fc.array(fc.oneof(part, value)) }), value),
        finishReason: value,
        groundingMetadata: fc.oneof(
          fc.record({ groundingChunks: value, groundingSupports: value }),
          fc.record({
            groundingChunks: fc.constant([{ web: { uri: "u" } }]),
            groundingSupports: fc.array(fc.record({ segment: value, groundingChunkIndices: value })),
          }),
        ),
        logprobsResult: value,
      },
      { requiredKeys: [] },
    );
    const fuzzed = fc.record(
      { candidates: fc.oneof(fc.array(candidate), value), usageMetadata: value, promptFeedback: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fuzzed), fc.array(fc.nat(400), { maxLength: 4 }), (pieces, offsets) => {
        const bytes = utf8(pieces.map(data).join("") + ends("STOP"));
        const entire = run(bytes);
        const cuts = offsets.filter((offset) => offset <= bytes.length);
        expect(run(...cutAt(bytes, cuts))).toEqual(entire);
      }),
      { numRuns: 150 },
    );
  });
});

describe("token counts of contents", () => {
  const usageOf = (...pieces: readonly object[]) =>
    run(...pieces.map((piece) => data(piece)), ends("STOP")).events.find(({ type }) => type === "usage");

  it("are those of the last chunk, with thoughts, tools, audio and what was cached", () => {
    const first = { promptTokenCount: 100, candidatesTokenCount: 2 };
    const last = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 80 },
        { modality: "AUDIO", tokenCount: 20 },
      ],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 5 }],
    };
    expect(usageOf({ usageMetadata: first }, { usageMetadata: last })).toEqual({
      type: "usage",
      usage: {
        prompt: 107,
        completion: 50,
        reasoning: 30,
        cached: 60,
        audioInput: 20,
        audioOutput: 5,
      },
    });
  });

  it("come with the requests of the backend's own tools", () => {
    const candidate = {
      groundingMetadata: { webSearchQueries: ["a", "b"] },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: "https://a.example" }] },
    };
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3 };
    expect(usageOf({ candidates: [candidate], usageMetadata })).toEqual({
      type: "usage",
      usage: { prompt: 9, completion: 3, webSearches: 2, webFetches: 1 },
    });
  });

  it("come at the beginning, because a stream that breaks off has no end", () => {
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3, cachedContentTokenCount: 8 };
    const { events, failure } = run(data({ candidates: [], usageMetadata }));
    expect(failure).toBe("cut");
    expect(events).toContainEqual({ type: "usage", usage: { prompt: 9, completion: 3, cached: 8 } });
  });
});

describe("decoding contents that came whole", () => {
  it("gives the events of the stream", () => {
    expect(runWhole(whole("tools")).events).toEqual(run(stream("tools")).events);
  });

  it("tells an answer without an end", () => {
    expect(runWhole("{}").failure).toBe("cut");
    expect(runWhole({ candidates: [] }).failure).toBe("cut");
    expect(runWhole(whole("tools").slice(0, 100)).failure).toBe("malformed");
  });
});
