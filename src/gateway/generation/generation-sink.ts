import type { GenerationEvent } from "../../core/conversation/events.ts";
import type { NativeStream } from "./native-stream.ts";

/** Receives a generation's events. */
export interface GenerationSink {
  /**
   * Takes the events of one upstream read. `native`: the provider's own bytes, which the caller gets instead of the rendered
   * events. The generation waits for a returned promise before it reads more.
   */
  deliver(events: readonly GenerationEvent[], native?: Uint8Array): Promise<void> | undefined;
  /**
   * Discards all events so far, which the caller has not seen. A sink without it shows events to the caller as they come.
   */
  restart?(): void;
  /** Has the caller get a body without JavaScript. Absent: the sink cannot do so. */
  pipe?(body: ReadableStream<Uint8Array>): Promise<void>;
  /** The native stream of which the caller has got bytes. Another one continues it. */
  nativeStream?: NativeStream;
}

/** The sink before the generation runs. */
export const noopSink: GenerationSink = { deliver: () => undefined };
