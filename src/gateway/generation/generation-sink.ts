import type { GenerationEvent } from "../../core/conversation/events.ts";
import type { NativeStream } from "./native/native-stream.ts";

interface EventSink {
  /**
   * Takes the events of one upstream read. `native`: the provider's own bytes, which the caller gets instead of the rendered
   * events. The generation waits for a returned promise before it reads more.
   */
  deliver(events: readonly GenerationEvent[], native?: Uint8Array): Promise<void> | undefined;
}

/** Shows events to the caller as they come. */
export interface StreamSink extends EventSink {
  readonly delivery: "stream";
  /** Has the caller get a body without JavaScript. Absent: the sink cannot do so. */
  pipe?(body: ReadableStream<Uint8Array>): Promise<void>;
  /** The native stream of which the caller has got bytes. Another one continues it. */
  nativeStream?: NativeStream;
}

/** Collects events: the caller gets the answer in one piece. */
interface WholeSink extends EventSink {
  readonly delivery: "whole";
  /** Discards all events so far, which the caller has not seen. */
  restart(): void;
}

/** Receives a generation's events. */
export type GenerationSink = StreamSink | WholeSink;

/** The sink before the generation runs. */
export const noopSink: GenerationSink = { delivery: "stream", deliver: () => undefined };
