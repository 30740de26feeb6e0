import type { Caller } from "../../src/auth/callers.ts";
import type { Completion, GenerationEvent } from "../../src/conversation/events.ts";
import type { GenerationOutcome } from "../../src/conversation/outcome.ts";
import { complete } from "../../src/generation/complete.ts";
import { type GenerationHooks, HOOKS } from "../../src/generation/hooks.ts";
import type { GenerationRequest } from "../../src/generation/job.ts";
import { type StreamAnswer, stream } from "../../src/generation/stream.ts";
import type { Context } from "../../src/platform/context.ts";
import { BodyReader } from "./body-reader.ts";
import { type ConversationChanges, conversation } from "./conversations.ts";
import { type MemoryGateway, managed, pass } from "./memory-gateway.ts";

/** What a test says of a generation. */
export interface RunOptions {
  /** The caller with the configured key unless given. */
  readonly caller?: Caller;
  readonly conversation?: ConversationChanges;
  readonly beforeSlot?: GenerationHooks["beforeSlot"];
  /** A way of streaming; {@link SHORTHAND} unless given. */
  readonly answer?: StreamAnswer;
}

/**
 * A dialect in shorthand: `^` begins, text is itself, reasoning is in brackets, `<name{}>` is a call, `.stop` the end,
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

/** One generation: asked for whole or as a stream, by a client that may leave. */
export class GenerationRun {
  readonly context: Context;
  /** What the hook was told of its outcome. */
  readonly outcomes: GenerationOutcome[] = [];
  readonly #client = new AbortController();
  readonly #gateway: MemoryGateway;
  readonly #options: RunOptions;

  constructor(gateway: MemoryGateway, options: RunOptions = {}) {
    this.#gateway = gateway;
    this.#options = options;
    runs += 1;
    this.context = { ...gateway.context({ signal: this.#client.signal }), requestId: `req_${runs}` };
  }

  /** The client goes away, on a runtime that says so. */
  leave(): void {
    this.#client.abort();
  }

  /** Asks for a whole answer. */
  async complete(): Promise<Completion> {
    const { completion } = await complete(this.#request(false));
    return completion;
  }

  /** Asks for a stream. As in the program, an error before its first byte rejects. */
  async stream(): Promise<Response> {
    const work = stream(this.#request(true), this.#options.answer ?? SHORTHAND);
    this.#gateway.waitUntil(work);
    return work;
  }

  /** Runs to the end, however it is asked for, read as it comes, and whatever becomes of it: within 200 s. */
  async out(way: "complete" | "stream"): Promise<void> {
    const work = this[way]();
    work.then(
      (answer) => answer instanceof Response && new BodyReader(answer),
      () => undefined,
    );
    await pass(200_000);
  }

  #request(streamed: boolean): GenerationRequest {
    const { caller = managed(), beforeSlot = [] } = this.#options;
    return {
      context: this.context,
      caller,
      conversation: conversation({ ...this.#options.conversation, stream: streamed }),
      hooks: {
        beforeSlot,
        onOutcome: [...HOOKS.onOutcome, ({ outcome }) => this.outcomes.push(outcome)],
      },
    };
  }
}
