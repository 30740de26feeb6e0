import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { StallDetector } from "./stall-detector.ts";

/** Receives the bytes of a provider's body. */
export interface BodyConsumer {
  /** Takes the bytes of one read. The body is not read further until a returned promise resolves. */
  take(bytes: Uint8Array, now: number): Promise<void> | undefined;
  /** Called after each read. True: no more bytes are wanted. */
  isOver?(): boolean;
}

/**
 * Reads a provider's body, one read after the other. All answers that JavaScript passes on are read here.
 *
 * @returns whether the body has ended. False: the consumer needs no more, and the body is not locked
 * @throws ProviderError `cut` if the connection broke; the signal's reason if the attempt was aborted
 */
export async function readBody(
  body: ReadableStream<Uint8Array>,
  { signal, stallDetector }: { readonly signal: AbortSignal; readonly stallDetector: StallDetector },
  consumer: BodyConsumer,
): Promise<boolean> {
  const reader = body.getReader();
  let stopped = signal.aborted;
  // A body that does not come from `fetch` (a proxied one) may ignore the signal.
  const stop = () => {
    stopped = true;
    reader.cancel(signal.reason).catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (stopped) throw signal.reason;
      const now = stallDetector.recordData();
      if (done) return true;
      const taken = consumer.take(value, now);
      if (taken !== undefined) {
        await taken;
        stallDetector.endWrite();
      }
      if (consumer.isOver?.() === true) {
        reader.releaseLock();
        return false;
      }
    }
  } catch (error) {
    stop();
    if (signal.aborted) throw signal.reason;
    if (error instanceof ProviderError || error instanceof GatewayError) throw error;
    throw new ProviderError("cut", "the provider's answer broke off", { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** How long a provider may keep a body open after its last event, milliseconds. */
export const END_WITHIN_MS = 200;

/** Reads a finished body to its end, so that its connection can be reused. Cancels a body that does not end in time. */
export function readToEnd(body: ReadableStream<Uint8Array>): void {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, END_WITHIN_MS);
  reader.read().then(
    ({ done }) => {
      clearTimeout(timer);
      if (!done) cancel();
    },
    () => clearTimeout(timer),
  );
}
