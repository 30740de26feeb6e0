/** Limits for reading a refused body to its end. A client whose connection is cut while it sends never sees the response. */
const MAX_DRAINED_BYTES = 256 * 1024 * 1024;
const MAX_DRAIN_MS = 60_000;

/** Reads and discards the rest of a body. Rejects if the client disconnects. */
export async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cancel = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, MAX_DRAIN_MS);
  try {
    for (let size = 0; size < MAX_DRAINED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.byteLength;
    }
    cancel();
  } finally {
    clearTimeout(timer);
  }
}
