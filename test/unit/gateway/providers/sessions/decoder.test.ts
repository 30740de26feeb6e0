import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionTurnDecoder } from "../../../../../src/gateway/providers/sessions/decoder.ts";
import { cutAt, decode, type Outcome, textOfEvents, utf8 } from "../support.ts";

const SECRET = "token-of-the-account";

function run(...pieces: readonly (string | Uint8Array)[]): Outcome {
  return decode(
    new SessionTurnDecoder(SECRET),
    pieces.map((piece) => (typeof piece === "string" ? utf8(piece) : piece)),
  );
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const FINISH = event("finish", { reason: "stop" });

/** Every trait of the protocol in one short stream: CRLF, comments, multi-line data, no space, astral characters. */
const MIXED = [
  "\ufeff: hello\r\n\r\n",
  'event: start\r\ndata: {"message_id":"m1"}\r\n\r\n',
  'event:reasoning\ndata:{"text":"hmm é"}\n\n',
  ": keep-alive\n\n",
  'event: text\r\ndata: {"text":\r\ndata: "größe 漢字 😀"}\r\n\r\n',
  "event: future\ndata: not json at all\n\n",
  "id: 7\nretry: 10\nunknown: field\n",
  'event: search\rdata: {"results":[{"index":1,"url":"https://a.example/","title":"A"}]}\r\r',
  'event: text\ndata: {"text":"line\\r\\nline [citation:1]"}\n\n',
  event("usage", { prompt_tokens: 3, completion_tokens: 5, reasoning_tokens: 2 }),
  'event: finish\ndata: {"reason":"stop"}',
].join("");

describe("decoding a turn of the sessions protocol", () => {
  it("reads every event", () => {
    expect(run(MIXED)).toEqual({
      failure: null,
      events: [
        { type: "start", messageId: "m1" },
        { type: "reasoning", text: "hmm é" },
        { type: "text", text: "größe 漢字 😀" },
        { type: "search", results: [{ index: 1, url: "https://a.example/", title: "A" }] },
        { type: "text", text: "line\r\nline [citation:1]" },
        { type: "usage", usage: { prompt: 3, completion: 5, reasoning: 2 } },
        { type: "finish", reason: "stop" },
      ],
    });
  });

  it("reads the same events wherever the bytes are cut", () => {
    const bytes = utf8(MIXED);
    const whole = run(bytes);
    for (let offset = 0; offset <= bytes.length; offset += 1) {
      expect(run(...cutAt(bytes, [offset])), `cut at ${offset}`).toEqual(whole);
    }
    expect(run(...cutAt(bytes, [...bytes.keys()]))).toEqual(whole);
  });

  it("reads the same events for any several cuts", () => {
    const bytes = utf8(MIXED);
    const whole = run(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (offsets) => {
        expect(run(...cutAt(bytes, offsets))).toEqual(whole);
      }),
    );
  });

  it("delivers what came before a failure, wherever the bytes are cut", () => {
    const bytes = utf8(
      event("text", { text: "so far" }) + event("error", { code: "rate_limited", message: "slow down" }),
    );
    for (let offset = 0; offset <= bytes.length; offset += 1) {
      const { events, failure } = run(...cutAt(bytes, [offset]));
      expect(events, `cut at ${offset}`).toEqual([{ type: "text", text: "so far" }]);
      expect(failure).toBe("rate_limited");
    }
  });

  it("shows a failure at once that came in the same read as events", () => {
    const decoder = new SessionTurnDecoder(SECRET);
    expect(
      decoder.push(utf8(event("text", { text: "x" }) + event("error", { code: "not_found" }))),
    ).toHaveLength(1);
    expect(decoder.failure?.kind).toBe("not_found");
    expect(() => decoder.push(utf8(": more\n\n"))).toThrow(expect.objectContaining({ kind: "not_found" }));
  });

  it.each([
    ["invalid_credentials", "invalid_credentials"],
    ["token_expired", "token_expired"],
    ["account_suspended", "account_suspended"],
    ["rate_limited", "rate_limited"],
    ["not_found", "not_found"],
    ["too_large", "too_large"],
    ["model_unavailable", "model_unavailable"],
    ["invalid_request", "invalid_request"],
    ["no_such_code", "server_error"],
  ])("turns the error %s into a failure of the kind %s", (code, kind) => {
    expect(run(event("error", { code, message: "why" })).failure).toBe(kind);
  });

  it("keeps the account's token out of messages", () => {
    const decoder = new SessionTurnDecoder(SECRET);
    const said = { code: "invalid_request", message: `bad token ${SECRET}\nsecond line` };
    expect(() => decoder.push(utf8(event("error", said)))).toThrow(
      "the provider says: bad token [masked] second line",
    );
  });

  it.each([
    ["nothing at all", ""],
    ["only text", event("text", { text: "half" })],
    ["half an event", `${event("text", { text: "half" })}event: text\ndata: {"te`],
    ["half a finish", 'event: finish\ndata: {"reason"'],
    ["a name without data", "event: finish\n"],
  ])("calls a stream cut that ends after %s", (_what, text) => {
    expect(run(text).failure).toBe("cut");
  });

  it.each([
    ["broken JSON", "event: text\ndata: {oops}\n\n"],
    ["no object", 'event: text\ndata: "text"\n\n'],
    ["text that is no string", event("text", { text: 5 })],
    ["reasoning without text", event("reasoning", {})],
    ["a start without an id", event("start", {})],
    ["search results that are no list", event("search", { results: {} })],
    ["a finish that is no JSON", "event: finish\ndata: stop\n\n"],
  ])("calls %s malformed", (_what, text) => {
    expect(run(text, FINISH).failure).toBe("malformed");
  });

  it("ignores whatever follows the end", () => {
    const decoder = new SessionTurnDecoder(SECRET);
    decoder.push(utf8(FINISH));
    expect(decoder.ended).toBe(true);
    expect(decoder.push(utf8("event: text\ndata: garbage\n\n"))).toEqual([]);
    expect(decoder.finish()).toEqual([]);
  });

  it("keeps the answer when a byte is broken", () => {
    const bytes = utf8(event("text", { text: "a?b" }) + FINISH);
    bytes[bytes.indexOf(0x3f)] = 0xff;
    expect(run(bytes)).toEqual({
      failure: null,
      events: [
        { type: "text", text: "a\ufffdb" },
        { type: "finish", reason: "stop" },
      ],
    });
  });

  it("leaves out counts that are missing or nonsense", () => {
    const [usage] = run(
      event("usage", { prompt_tokens: 4, completion_tokens: -1, reasoning_tokens: "2" }),
      FINISH,
    ).events;
    expect(usage).toEqual({ type: "usage", usage: { prompt: 4 } });
  });

  it("never throws anything but a provider's failure, whatever the bytes", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "event: text",
        "event: finish",
        "event: start",
        "event: usage",
        "event: search",
        "event: error",
      ),
      fc.json({ maxDepth: 2 }).map((json) => `data: ${json}`),
      fc.string({ unit: "binary" }),
    );
    const stream = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(line).map((lines) => utf8(lines.join("\n"))),
      fc
        .array(fc.tuple(line, line))
        .map((pairs) => utf8(pairs.map((pair) => `${pair.join("\n")}\n\n`).join(""))),
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(300), { maxLength: 5 }), (bytes, offsets) => {
        const whole = run(bytes);
        expect(
          run(
            ...cutAt(
              bytes,
              offsets.filter((offset) => offset <= bytes.length),
            ),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });
});

describe("long lines", () => {
  const long = (length: number): Uint8Array => utf8(event("text", { text: "x".repeat(length) }) + FINISH);

  function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
  }

  it("are read at 2 MiB in pieces of 1 kB", () => {
    const { events, failure } = run(...pieces(long(2 * 1024 * 1024), 1024));
    expect(failure).toBeNull();
    expect(textOfEvents(events, "text")).toHaveLength(2 * 1024 * 1024);
  });

  it("are refused beyond 16 MiB, in one piece or many", () => {
    const bytes = long(16 * 1024 * 1024 + 1);
    expect(run(bytes).failure).toBe("malformed");
    expect(run(...pieces(bytes, 64 * 1024)).failure).toBe("malformed");
  });

  it("of a comment cost no memory and do no harm", () => {
    const comment = utf8("x".repeat(1024 * 1024));
    expect(run(": ", ...Array.from({ length: 20 }, () => comment), "\n\n", FINISH).failure).toBeNull();
  });
});
