import { createParser, type EventSourceParser } from "eventsource-parser";
import type { JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { parseRecord } from "./json.ts";
import type { ProviderEvent, TurnDecoder } from "./provider.ts";

/**
 * Characters that one event may have. A line of over 1 MiB occurs (a search result, a whole tool call); beyond this the
 * upstream is broken, and memory is short.
 */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

const STREAM = { stream: true } as const;

/**
 * What every driver's decoder of server-sent events has in common: UTF-8 across reads (a broken sequence becomes
 * U+FFFD, as the event-stream format demands: one bad byte does not cost the answer), lines across reads, and failures
 * that do not swallow the events which preceded them in the same read.
 *
 * The parser keeps an unfinished line as fragments and joins them once, so that a long line in small pieces costs
 * linear time, and it discards comments without keeping them.
 */
export abstract class EventStreamDecoder implements TurnDecoder {
  readonly #utf8 = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: ProviderEvent[] = [];
  #failure: ProviderError | null = null;
  #done = false;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => {
        if (this.#done) return;
        if (event.data.length > MAX_EVENT_CHARS) throw tooLong();
        this.onEvent(event.event, event.data);
      },
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw tooLong();
      },
    });
    // The decoder of bytes takes one byte order mark away; the parser would take another, if it came in the same read.
    this.#parser.feed("\n");
  }

  /** Takes one server-sent event. May throw a `ProviderError`. */
  protected abstract onEvent(name: string | undefined, data: string): void;

  /** The upstream closed without having said that it was done; `markDone` accepts that, otherwise it was cut. */
  protected onEnd(): void {}

  protected emit(event: ProviderEvent): void {
    this.#events.push(event);
  }

  /** The upstream said all that there is to say; whatever follows is ignored. */
  protected markDone(): void {
    this.#done = true;
  }

  get ended(): boolean {
    return this.#done;
  }

  get failure(): ProviderError | null {
    return this.#failure;
  }

  push(bytes: Uint8Array): readonly ProviderEvent[] {
    if (this.#failure !== null) throw this.#failure;
    if (this.#done) return [];
    try {
      this.#parser.feed(this.#utf8.decode(bytes, STREAM));
    } catch (error) {
      this.#failure = asProviderError(error);
      if (this.#events.length === 0) throw this.#failure;
    }
    return this.#take();
  }

  finish(): readonly ProviderEvent[] {
    if (this.#failure !== null) throw this.#failure;
    if (this.#done) return [];
    try {
      // The blank line that ends the last event may be missing.
      this.#parser.feed(`${this.#utf8.decode()}\n\n`);
      if (!this.#done) this.onEnd();
    } catch (error) {
      const failure = asProviderError(error);
      // Half an event is no garbage: the stream was cut within it.
      this.#failure = failure.kind === "malformed" ? wasCut() : failure;
      throw this.#failure;
    }
    if (!this.#done) {
      this.#failure = wasCut();
      throw this.#failure;
    }
    return this.#take();
  }

  #take(): readonly ProviderEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}

/** Reads the events of one answer that are told by their type; `take` says whether it was the last. */
export interface TypedEvents {
  /** May throw a `ProviderError`. */
  take(type: unknown, event: JsonObject): boolean;
}

/** Decodes a stream whose events name their type. It has ended when one of them says so, and not before. */
export class TypedEventDecoder extends EventStreamDecoder {
  readonly #answer: TypedEvents;

  /** @param answer makes what reads the events, and tells what it has read. */
  constructor(answer: (emit: (event: ProviderEvent) => void) => TypedEvents) {
    super();
    this.#answer = answer((event) => this.emit(event));
  }

  protected override onEvent(name: string | undefined, data: string): void {
    // Servers that speak several protocols add the end mark of another.
    if (data === "" || data.trim() === "[DONE]") return;
    const event = parseRecord(data);
    if (this.#answer.take(event["type"] ?? name, event)) this.markDone();
  }
}

function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError("malformed", "the provider's event stream is broken", 0, error);
}

function tooLong(): ProviderError {
  return new ProviderError("malformed", "the provider sent an event that is too long");
}

function wasCut(): ProviderError {
  return new ProviderError("cut", "the provider's answer was cut off");
}
