import { describe, expect, it, vi } from "vitest";
import { maskSecrets } from "../../../src/core/encoding/secret-masking.ts";
import { GatewayError } from "../../../src/core/errors/gateway-error.ts";
import { ProviderError } from "../../../src/core/errors/provider-error.ts";
import { JsonScan } from "../../../src/core/http/json-scan.ts";
import type { OutboundProxy } from "../../../src/core/ports/upstream.ts";
import { collectSecrets, maskText, maskUrl } from "../../../src/gateway/captures/capture-masking.ts";
import { readFormFile } from "../../../src/gateway/files/form-file.ts";
import type { TurnDecoder } from "../../../src/gateway/providers/answers/upstream-turn.ts";
import { MessageStreamDecoder } from "../../../src/gateway/providers/anthropic/decoder.ts";
import { redactEchoedInput } from "../../../src/gateway/providers/errors/redact-echoed-input.ts";
import { toGroundingEvents } from "../../../src/gateway/providers/gemini/grounding.ts";
import { CompletionStreamDecoder } from "../../../src/gateway/providers/openai/decoder.ts";
import { SessionTurnDecoder } from "../../../src/gateway/providers/sessions/decoder.ts";
import { ProxyFailure } from "../../../src/gateway/upstream/proxy/failure.ts";
import { proxiedFetch } from "../../../src/gateway/upstream/proxy/proxied-fetch.ts";
import { parseMetadata } from "../../../src/pages/metadata/parse-metadata.ts";
import { DEGENERATE } from "../../support/degenerate.ts";
import { growthOf, MAX_GROWTH, type Work } from "../../support/growth.ts";
import { saying } from "../fuzz/target.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** Streams have at most four times so many events. */
const MAX_EVENTS = 1 << 14;
/** What passes through a chain of promises is dear: so many reads are enough. */
const MAX_READS = 1 << 13;

const linear = async (work: Work, maxSize?: number) =>
  expect(await growthOf(work, maxSize)).toBeLessThan(MAX_GROWTH);

const inReads = (text: string, size: number): Uint8Array<ArrayBuffer>[] => {
  const all = Uint8Array.from(new TextEncoder().encode(text));
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  );
};

/** How much more of its input work takes when it has four times so much: less than so many times as much means that it gave up. */
const MIN_TAKEN = 3;

/** Work that says how many bytes of its input it took. */
type Taking = (n: number) => () => number | Promise<number>;

/** Linear work that takes as much as there is: what refuses its input at once is linear, too, and says nothing of the rest. */
const takesAll = async (work: Taking, maxSize?: number) => {
  const [short, long] = [await work(1024)(), await work(4096)()];
  expect(long).toBeGreaterThan(MIN_TAKEN * short);
  await linear(work, maxSize);
};

/** Linear work that rightly gives up at the same place, however much there is. */
const givesUp = async (work: Taking, maxSize?: number) => {
  const [short, long] = [await work(1024)(), await work(4096)()];
  expect(long).toBe(short);
  await linear(work, maxSize);
};

let made = 0;
const context = { secret: "a-secret", newId: () => `id${made++}` };
const DECODERS: Readonly<Record<string, () => TurnDecoder>> = {
  sessions: () => new SessionTurnDecoder("a-secret"),
  openai: () => new CompletionStreamDecoder(context),
  anthropic: () => new MessageStreamDecoder(context),
};

/** How many bytes a decoder takes before it finds that a stream is broken; all of them if it does so at the end, or never. */
function decode(decoder: TurnDecoder, reads: readonly Uint8Array[]): number {
  let taken = 0;
  try {
    for (const read of reads) {
      decoder.push(read);
      taken += read.length;
    }
    decoder.finish();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
  }
  return taken;
}

/** What an event of the driver `sessions` cannot be: its data is always an object. */
const NO_DATA = ["line ends", "data\n\n"];

describe.each(Object.entries(DECODERS))("an event stream of the driver %s", (driver, make) => {
  const measure = (name: string) => (driver === "sessions" && NO_DATA.includes(name) ? givesUp : takesAll);

  it.each(DEGENERATE)("of %s", (name, text) =>
    measure(name)((n) => {
      const reads = inReads(`event: text\ndata: ${text(n)}`, 16);
      return () => decode(make(), reads);
    }),
  );

  it.each(["data:x\n", ": a comment\n", "event: a\n", "id: 1\n\n", "data\n\n", 'data: {"a":1}\n\n'])(
    "of lines %j",
    (line) =>
      measure(line)((n) => {
        const reads = inReads(line.repeat(n / line.length), 16);
        return () => decode(make(), reads);
      }),
  );
});

const times = (n: number, make: (index: number) => string) =>
  Array.from({ length: n }, (_, index) => make(index)).join("");
const chunk = (call: object) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`;
const named = (index: number, rest: object = {}) => ({
  index,
  id: `c${index}`,
  function: { name: "run", ...rest },
});
const args = (index: number, text: string, more: object = {}) => ({
  index,
  ...more,
  function: { arguments: text },
});

/** Streams of native calls in the chat-completions protocol. */
const CALLS: Readonly<Record<string, (n: number) => string>> = {
  "long arguments in small pieces": (n) =>
    chunk(named(0, { arguments: '{"a":"' })) + times(n, () => chunk(args(0, "x"))),
  "arguments that seem to end, while another call waits": (n) =>
    chunk(named(0, { arguments: '{"a":"' })) + chunk(named(1)) + times(n, () => chunk(args(0, "}"))),
  "arguments of white space": (n) => chunk(named(0)) + times(n, () => chunk(args(0, " "))),
  "the name again with each piece": (n) =>
    chunk({ index: 0, function: { name: "run", arguments: '{"a":"' } }) +
    times(n, () => chunk({ index: 0, function: { name: "run", arguments: "}" } })),
  "calls by index": (n) => times(n, (index) => chunk(named(index, { arguments: "{}" }))),
  "calls by id": (n) =>
    times(n, (index) => chunk({ id: `c${index}`, function: { name: "run", arguments: "{}" } })),
  "calls at one index": (n) =>
    times(n, (index) => chunk({ ...named(0, { arguments: "{}" }), id: `c${index}` })),
  "pieces for the first of many": (n) =>
    times(n, (index) => chunk(named(index))) + times(n, () => chunk(args(0, "x", { id: "c0" }))),
};

it.each(Object.entries(CALLS))("native calls: %s", (_name, stream) =>
  takesAll((n) => {
    const reads = inReads(stream(n), 1 << 16);
    return () => decode(new CompletionStreamDecoder(context), reads);
  }, MAX_EVENTS),
);

const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const block = (index: number) =>
  event("content_block_start", {
    index,
    content_block: { type: "tool_use", id: `c${index}`, name: "run", input: {} },
  });
const input = (index: number, text: string) =>
  event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: text } });

/** Streams of native calls, thoughts and signatures in the message protocol. */
const BLOCKS: Readonly<Record<string, (n: number) => string>> = {
  "one input in small pieces": (n) => block(0) + input(0, '{"a":"') + times(n, () => input(0, "x")),
  "an input of white space": (n) => block(0) + times(n, () => input(0, " ")),
  "blocks one after the other": (n) =>
    times(n, (index) => block(index) + event("content_block_stop", { index })),
  "blocks that never stop": (n) => times(n, block),
  "pieces for the first of many": (n) => times(n, block) + times(n, () => input(0, "x")),
  "a signature in pieces": (n) =>
    event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "" } }) +
    times(n, () =>
      event("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "x" } }),
    ),
};

it.each(Object.entries(BLOCKS))("native blocks: %s", (_name, stream) =>
  takesAll((n) => {
    const reads = inReads(stream(n), 1 << 16);
    return () => decode(new MessageStreamDecoder(context), reads);
  }, MAX_EVENTS),
);

/** How many bytes of a form's body are read before it is found to be broken. */
async function readForm(pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<number> {
  let taken = 0;
  const left = pieces.values();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = left.next();
      if (done) return controller.close();
      taken += value.length;
      controller.enqueue(value);
    },
  });
  const init = {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=boundary" },
    body,
    duplex: "half" as const,
  };
  const request = new Request("http://gateway.example/v1/files", init);
  const form = readFormFile(request, { bytes: 1 << 30, idleMs: 10_000 });
  try {
    await form.head();
    for await (const _ of form.content);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  return taken;
}

const PART = '--boundary\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
const FORMS: Readonly<Record<string, (n: number) => string>> = {
  "a file of line ends": (n) => PART + "\r\n".repeat(n * 8),
  "a file of what begins a boundary": (n) => PART + "\r\n--boundar".repeat(n),
  "parts without end": (n) => PART + "\r\n--boundary\r\n".repeat(n),
  "fields without end": (n) =>
    `${PART}x${'\r\n--boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\nx'.repeat(n)}`,
  "a head that does not end": (n) => `--boundary\r\n${"A: b\r\n".repeat(n)}`,
  "a name that does not end": (n) => `--boundary\r\nContent-Disposition: form-data; name="${"\\".repeat(n)}`,
  "words before the first part": (n) => "x".repeat(n * 8),
};

it.each(Object.entries(FORMS))("an upload's form: %s", (_name, make) =>
  takesAll((n) => {
    const pieces = inReads(make(n), 64);
    return () => readForm(pieces);
  }, MAX_READS),
);

const REPLIES: Readonly<Record<string, (n: number) => string>> = {
  "chunks of one byte": (n) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(n)}0\r\n\r\n`,
  "a line that does not end": (n) => `HTTP/1.1 200 ${"x".repeat(n)}`,
  "headers without end": (n) => `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(n)}`,
  "interim answers without end": (n) => "HTTP/1.1 100 Continue\r\n\r\n".repeat(n),
  "a body of any length": (n) => `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(n)}`,
};

/** Of headers and of interim answers there may be so many. */
const LIMITED = ["headers without end", "interim answers without end"];

it.each(Object.entries(REPLIES))("what a proxy replies: %s", (name, make) =>
  (LIMITED.includes(name) ? givesUp : takesAll)((n) => {
    const pieces = inReads(make(n), 4);
    const proxy: OutboundProxy = { type: "http", host: "proxy", port: 1, username: "u", password: "p" };
    return async () => {
      let taken = 0;
      const socket = saying(pieces, ({ length }) => (taken += length));
      try {
        const response = await proxiedFetch(() => socket, proxy)("http://target.example/");
        await response.arrayBuffer();
      } catch (error) {
        if (!(error instanceof ProxyFailure)) throw error;
      }
      return taken;
    };
  }, MAX_READS),
);

describe("masking", () => {
  it.each(DEGENERATE)("a captured text of %s", (_name, text) =>
    linear((n) => {
      const long = text(n);
      const spoken = {
        url: "https://provider.example/a?key=some-secret",
        headers: new Headers({ authorization: "Bearer a-secret-token" }),
        configuredHeaders: {},
        body: `{"password":"${long}`,
        proxy: null,
      };
      return () => {
        maskText(long, collectSecrets(spoken), { mayBeJson: true, isCut: true });
        return maskUrl(`https://provider.example/?q=${encodeURIComponent(long.toWellFormed())}`, []);
      };
    }),
  );

  it.each(DEGENERATE)("a secret of %s at the end of a text", (_name, text) =>
    linear((n) => {
      const secret = text(n);
      const said = `no ${secret.slice(0, -1)}`;
      const other = "x".repeat(n);
      return () => maskSecrets(said, [secret], true) + maskSecrets(other, [secret], true);
    }),
  );

  it.each([...DEGENERATE, ["a long word", (n: number) => `no ${"a".repeat(n)}`] as const])(
    "a short secret, and the words of the caller, in a refusal of %s",
    (_name, text) =>
      linear((n) => {
        const refusal = text(n);
        const request = { messages: [{ role: "user", content: refusal }], user: "top_k" };
        return () => maskSecrets(refusal, ["abcd"]) + redactEchoedInput(refusal, request);
      }),
  );

  it("a secret of which the text holds every beginning", () =>
    linear((n) => {
      const secret = `${"a".repeat(n)}b`;
      const said = "a".repeat(n);
      return () => maskSecrets(`${said}c`, [secret], true);
    }));
});

it.each(DEGENERATE)("the guard before JSON.parse: %s", (_name, text) =>
  linear((n) => {
    const reads = inReads(`[${text(n)}`, 16);
    return () => {
      const scan = new JsonScan(512);
      for (const read of reads) scan.push(read);
      return scan.cost;
    };
  }),
);

it.each([
  ["that are where they say", () => ({})],
  ["that are elsewhere", (index: number) => ({ text: `ä${index}` })],
])("the places of an answer that rest on pages, %s", (_, also) =>
  linear((n) => {
    const text = "ä".repeat(n);
    const groundingSupports = Array.from({ length: n }, (__, index) => ({
      segment: { startIndex: index, endIndex: 2 * n - index, ...also(index) },
      groundingChunkIndices: [0],
    }));
    const metadata = { groundingChunks: [{ web: { uri: "https://a.example" } }], groundingSupports };
    return () => toGroundingEvents(metadata, text);
  }, MAX_EVENTS),
);

it.each(["canonical ", "something ", '"', "; rel=", "<a>"])("a Link header of a page, full of %j", (text) =>
  linear((n) => {
    const link = Array.from({ length: 31 }, () => `<a>;rel="${text.repeat(n / 31 / text.length)}`);
    return () => parseMetadata({ html: "", url: "https://example.com/", headers: { link } });
  }),
);
