import { onAbort } from "../../core/http/abort-signals.ts";
import type { Fetch } from "../../core/ports/upstream.ts";

/**
 * Sends a request whose body is a stream. workerd reports the error of such a body, and the reason of an abort while it is
 * sent, as uncaught exceptions, although `fetch` rejects with them. It also completes the request of a body that failed.
 * Therefore the body never fails: the request is aborted without a reason instead.
 */
export async function fetchWithStream(
  fetch: Fetch,
  url: string,
  { signal, ...init }: RequestInit,
  body: ReadableStream<Uint8Array>,
): Promise<Response> {
  const abort = new AbortController();
  const bodyFailure = Promise.withResolvers<never>();
  bodyFailure.promise.catch(() => undefined);
  let hasAnswer = false;
  if (signal) onAbort(signal, () => abort.abort(hasAnswer ? signal.reason : undefined));
  const reader = body.getReader();
  const sent = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read().catch((error: unknown) => {
          bodyFailure.reject(error);
          abort.abort();
          return new Promise<never>(() => undefined);
        });
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason).catch(() => undefined),
    },
    { highWaterMark: 0 },
  );
  try {
    const response = await Promise.race([
      fetch(url, { ...init, body: sent, signal: abort.signal }),
      bodyFailure.promise,
    ]);
    hasAnswer = true;
    return response;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
