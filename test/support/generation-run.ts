import type { Caller } from "../../src/core/auth/callers.ts";
import type { Completion, GenerationEvent } from "../../src/core/conversation/events.ts";
import type { GenerationOutcome } from "../../src/core/conversation/outcome.ts";
import type { Context } from "../../src/core/ports/context.ts";
import { generateCompletion } from "../../src/gateway/generation/complete.ts";
import type { GenerationRequest } from "../../src/gateway/generation/generation-job.ts";
import { type StreamAnswer, streamGeneration } from "../../src/gateway/generation/stream.ts";
import { BodyReader } from "./body-reader.ts";
import { type ConversationChanges, conversation } from "./conversations.ts";
import { type MemoryGateway, managed, pass } from "./memory-gateway.ts";

/** Options of a test generation. */
export interface RunOptions {
  /** Default: the caller with the configured key. */
  readonly caller?: Caller;
  readonly conversation?: ConversationChanges;
  /** Headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Streaming format; default: {@link SHORTHAND}. */
  readonly answer?: StreamAnswer;
}

/**
 * A test dialect in shorthand: `^` starts, text is itself, reasoning is in brackets, `<name{}>` is a call, `.stop` the end,
 * `!code` an error, and `~` a keep-alive.
 */
export const SHORTHAND: StreamAnswer = { stream: () => ({ keepAlive: "~", push: shorthand }) };

function shorthand(event: GenerationEvent): string {
  switch (event.type) {
    case "start":
      return "^";
    case "text":
      return event.text;
    case "refusal":
      return `?${event.text}`;
    case "reasoning":
      return `(${event.text})`;
    case "tool-call":
      return `<${event.name}`;
    case "tool-arguments":
      return event.delta;
    case "tool-call-end":
      return ">";
    case "finish":
      return `.${event.reason}`;
    case "error":
      return `!${event.error.code}`;
  }
}

let runs = 0;

/** One generation, whole or streamed, by a client that may disconnect. */
export class GenerationRun {
  readonly context: Context;
  /** The outcomes that were reported. */
  readonly outcomes: GenerationOutcome[] = [];
  readonly #client = new AbortController();
  readonly #gateway: MemoryGateway;
  readonly #options: RunOptions;

  constructor(gateway: MemoryGateway, options: RunOptions = {}) {
    this.#gateway = gateway;
    this.#options = options;
    runs += 1;
    this.context = {
      ...gateway.context({ signal: this.#client.signal, headers: options.headers ?? {} }),
      requestId: `req_${runs}`,
    };
  }

  /** Disconnects the client, on a runtime that reports it. */
  leave(): void {
    this.#client.abort();
  }

  /** Requests a whole answer. */
  async complete(): Promise<Completion> {
    const { completion } = await generateCompletion(this.#request(false));
    return completion;
  }

  /** Requests a stream. As in the program, an error before the first byte rejects. */
  async stream(): Promise<Response> {
    const work = streamGeneration(this.#request(true), this.#options.answer ?? SHORTHAND);
    this.#gateway.waitUntil(work);
    return work;
  }

  /** Runs the generation to its end, whole or streamed, for at most 200 s. Ignores its outcome. */
  async out(way: "complete" | "stream"): Promise<void> {
    const work = this[way]();
    work.then(
      (answer) => answer instanceof Response && new BodyReader(answer),
      () => undefined,
    );
    await pass(200_000);
  }

  #request(streamed: boolean): GenerationRequest {
    const { caller = managed() } = this.#options;
    return {
      context: this.context,
      caller,
      conversation: conversation({ ...this.#options.conversation, stream: streamed }),
      onOutcome: (outcome) => void this.outcomes.push(outcome),
    };
  }
}
