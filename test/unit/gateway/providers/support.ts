import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message, Part, ToolCall } from "../../../../src/core/conversation/conversation.ts";
import { ProviderError } from "../../../../src/core/errors/provider-error.ts";
import type { Fetch } from "../../../../src/core/ports/upstream.ts";
import type { ProviderEvent } from "../../../../src/gateway/providers/answers/provider-events.ts";
import type { TurnDecoder, UpstreamTurn } from "../../../../src/gateway/providers/answers/upstream-turn.ts";
import type { PrepareOptions, Provider } from "../../../../src/gateway/providers/provider.ts";
import type { UpstreamAccount } from "../../../../src/gateway/providers/upstream-account.ts";
import { type ConversationChanges, conversation } from "../../../support/conversations.ts";

export { conversation };

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** What a decoder made of a stream: its events, and how it failed if it did. */
export interface Outcome {
  readonly events: readonly ProviderEvent[];
  readonly failure: string | null;
}

/** Feeds pieces to a decoder to the end, as the pump does. Anything but a `ProviderError` is passed on. */
export function decode(decoder: TurnDecoder, pieces: readonly (string | Uint8Array)[]): Outcome {
  const events: ProviderEvent[] = [];
  try {
    for (const piece of pieces) events.push(...decoder.push(typeof piece === "string" ? utf8(piece) : piece));
    events.push(...decoder.finish());
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { events, failure: error.kind };
  }
  return { events, failure: null };
}

/** An outcome without the token counts that later ones replace: a stream states some at its beginning. */
export function withLastCounts({ events, ...rest }: Outcome): Outcome {
  const last = events.findLastIndex(({ type }) => type === "usage");
  return { ...rest, events: events.filter(({ type }, index) => type !== "usage" || index === last) };
}

/** Creates a decoder. It calls `remember` for each tool call with the reasoning that the backend wants back. */
export type DecoderFactory = (remember?: (callId: string, reasoning: unknown) => void) => TurnDecoder;

/** Decodes pieces with a new decoder, and also returns the reasoning to remember, by the id of the tool call. */
export function runWith(createDecoder: DecoderFactory) {
  return (...pieces: readonly (string | Uint8Array)[]): Outcome & { remembered: Record<string, unknown> } => {
    const remembered = new Map<string, unknown>();
    const decoder = createDecoder((callId, reasoning) => void remembered.set(callId, reasoning));
    return { ...withLastCounts(decode(decoder, pieces)), remembered: Object.fromEntries(remembered) };
  };
}

/** The answers that were captured from a backend of a driver. */
export function capturedAnswers(driver: string) {
  const read = (file: string): string =>
    readFileSync(join(import.meta.dirname, "../../../fixtures/streams", driver, file), "utf8");
  return {
    stream: (name: string) => read(`${name}.sse`),
    whole: (name: string) => read(`${name}.whole.json`),
  };
}

/** The token of the account. No message of an error may contain it. */
export const SECRET = "token-of-the-account";

/** What the answer of a turn came to, whichever way it came. */
export async function readTurn(turn: UpstreamTurn): Promise<Outcome> {
  if ("body" in turn) {
    return decode(turn.decoder, [new Uint8Array(await new Response(turn.body).arrayBuffer())]);
  }
  try {
    return { events: await turn.read(), failure: null };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { events: [], failure: error.kind };
  }
}

/** Asks a provider, and reads its answer to the end. Returns the request that was answered. */
export async function ask(
  provider: Provider,
  fake: FakeUpstream,
  changes: ConversationChanges,
): Promise<Record<string, unknown>> {
  const prepared = provider.prepare(conversation(changes), prepareOptions());
  await readTurn(await prepared.open(fake.account, neverAborted(), null));
  return fake.seen.at(-1)?.json() ?? {};
}

/** Text and reasoning deltas joined, so that outcomes can be compared whatever the deltas' sizes. */
export function textOfEvents(events: readonly ProviderEvent[], type: "text" | "reasoning"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

/** Cuts bytes at the given offsets. */
export function cutAt(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    pieces.push(bytes.subarray(from, offset));
    from = offset;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** One request that reached the fake upstream. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: string;
  readonly signal: AbortSignal;
  readonly body: string;
  /** The body as JSON. */
  json(): Record<string, unknown>;
  /** The body as multipart. */
  form(): Promise<FormData>;
}

/** An upstream within the process: answers what `respond` says, and remembers what it was asked. */
export class FakeUpstream {
  readonly seen: Seen[] = [];
  readonly #respond: (request: Seen) => Response | Promise<Response>;

  constructor(respond: (request: Seen) => Response | Promise<Response>) {
    this.#respond = respond;
  }

  readonly fetch: Fetch = async (url, init) => {
    init?.signal?.throwIfAborted();
    const request = new Request(url, init);
    const bytes = await request.arrayBuffer();
    const body = new TextDecoder().decode(bytes);
    const seen: Seen = {
      method: request.method,
      url,
      headers: request.headers,
      redirect: request.redirect,
      signal: request.signal,
      body,
      json: () => JSON.parse(body),
      form: () =>
        new Response(bytes, {
          headers: { "content-type": request.headers.get("content-type") ?? "" },
        }).formData(),
    };
    this.seen.push(seen);
    return this.#respond(seen);
  };

  get account(): UpstreamAccount {
    return { token: SECRET, fetch: this.fetch };
  }

  /** The only request to a path that ends so. */
  only(pathEnd: string): Seen {
    const found = this.seen.filter((request) => request.url.endsWith(pathEnd));
    const [first] = found;
    if (first === undefined || found.length !== 1) {
      throw new Error(`${found.length} requests to ${pathEnd}: ${this.seen.map((s) => s.url).join(" ")}`);
    }
    return first;
  }
}

/** An answer with server-sent events. */
export function eventStream(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** Options with nothing switched on; a URL may not be fetched unless a test allows it. */
export function prepareOptions(changes: Partial<PrepareOptions> = {}): PrepareOptions {
  return {
    thinkingInjection: null,
    inputFileMinChars: null,
    fetchAttachment: async (url) => {
      throw new Error(`nobody should fetch ${url}`);
    },
    ...changes,
  };
}

export const neverAborted = (): AbortSignal => new AbortController().signal;

export const text = (value: string): Part => ({ type: "text", text: value });

export const user = (...parts: (string | Part)[]): Message => ({
  role: "user",
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});

export const system = (...texts: string[]): Message => ({ role: "system", parts: texts.map(text) });

export const assistant = (said: string, ...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  parts: said === "" ? [] : [text(said)],
  toolCalls,
});

export const call = (id: string, json = "{}", name = "get_weather"): ToolCall => ({
  id,
  name,
  arguments: json,
});

/** The result of a tool call. */
export const result = (callId: string, ...parts: (string | Part)[]): Message => ({
  role: "tool",
  callId,
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});

export const WEATHER = {
  name: "get_weather",
  description: "Looks outside.",
  parameters: { type: "object", properties: {} },
};
