import { createParser, type EventSourceParser } from "eventsource-parser";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { parseRecord } from "../json.ts";
import type { ProviderEvent } from "./provider-events.ts";
import type { TurnDecoder } from "./upstream-turn.ts";

/**
 * The maximum length of one event, in characters. Lines of over 1 MiB occur (a search result, a whole tool call).
 * Beyond this limit the upstream is broken, and memory is limited.
 */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

const STREAM = { stream: true } as const;

/**
 * The base of every driver's decoder of server-sent events. It decodes UTF-8 and lines across reads. A broken byte
 * sequence becomes U+FFFD, as the event-stream format requires, so one bad byte does not cost the answer. A failure
 * does not discard the events that preceded it in the same read.
 *
 * The parser keeps an unfinished line as fragments and joins them once, so a long line in small pieces takes linear
 * time. It discards comments without storing them.
 */
export abstract class EventStreamDecoder implements TurnDecoder {
  /** The parser removes a byte order mark, also one that is cut: the decoder of Node removes two then. */
  readonly #utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  readonly #parser: EventSourceParser;
  #events: ProviderEvent[] = [];
  #failure: ProviderError | null = null;
  #done = false;
  /** See {@link TurnDecoder.contentEvents}. */
  contentEvents = 0;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => {
        if (this.#done) return;
        if (event.data.length > MAX_EVENT_CHARS) throw tooLongError();
        this.onEvent(event.event, event.data);
      },
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw tooLongError();
      },
    });
  }

  /** Handles one server-sent event. May throw a `ProviderError`. */
  protected abstract onEvent(name: string | undefined, data: string): void;

  /** Handles the text of one read, after its events. May throw a `ProviderError`. */
  protected onText(_text: string): void {}

  /**
   * Called when the upstream closes before `markDone`. Call `markDone` here to accept that; otherwise the answer
   * counts as cut off.
   */
  protected onEnd(): void {}

  protected emit(event: ProviderEvent): void {
    this.#events.push(event);
  }

  /** Marks the answer as complete. Later input is ignored. */
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
      const text = this.#utf8.decode(bytes, STREAM);
      this.#parser.feed(text);
      if (!this.#done) this.onText(text);
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
      this.#feedLastEvent();
      if (!this.#done) this.onEnd();
      if (!this.#done) throw wasCut();
    } catch (error) {
      this.#failure = asProviderError(error);
      throw this.#failure;
    }
    return this.#take();
  }

  /** The upstream may omit the blank line after the last event. */
  #feedLastEvent(): void {
    try {
      this.#parser.feed(`${this.#utf8.decode()}\n\n`);
    } catch (error) {
      const failure = asProviderError(error);
      // A malformed last event means that the stream was cut within it.
      throw failure.kind === "malformed" ? wasCut() : failure;
    }
  }

  #take(): readonly ProviderEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }
}

/** Reads the typed events of one answer. `take` returns true for the last one. */
export interface TypedEvents {
  /** May throw a `ProviderError`. */
  take(type: unknown, event: JsonObject): boolean;
}

/** The events before the first content. */
const OPENING_TYPES: ReadonlySet<string> = new Set([
  ...["message_start", "ping", "response.created", "response.in_progress", "response.queued", "keepalive"],
]);

/** Decodes a stream whose events name their type. The answer is complete only when an event says so. */
export class TypedEventDecoder extends EventStreamDecoder {
  readonly #answer: TypedEvents;

  /** @param answer creates the reader of the events, which emits what it has read. */
  constructor(answer: (emit: (event: ProviderEvent) => void) => TypedEvents) {
    super();
    this.#answer = answer((event) => this.emit(event));
  }

  protected override onEvent(name: string | undefined, data: string): void {
    // Servers that support several protocols add the end mark of another one.
    if (data === "" || data.trim() === "[DONE]") return;
    const event = parseRecord(data);
    const type = event["type"] ?? name;
    const isLast = this.#answer.take(type, event);
    if (typeof type === "string" && !OPENING_TYPES.has(type)) this.contentEvents += 1;
    if (isLast) this.markDone();
  }
}

function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError("malformed", "the provider's event stream is broken", { cause: error });
}

function tooLongError(): ProviderError {
  return new ProviderError("malformed", "the provider sent an event that is too long");
}

function wasCut(): ProviderError {
  return new ProviderError("cut", "the provider's answer was cut off");
}
