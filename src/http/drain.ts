/** A refused body is still read to its end, up to so many bytes and milliseconds: a client that is cut off never sees the answer. */
const MAX_DRAINED_BYTES = 256 * 1024 * 1024;
const MAX_DRAIN_MS = 60_000;

/** Reads what is left of a body that is of no use any more. Rejects when the client goes away. */
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
