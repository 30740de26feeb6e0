/** How long an upstream may keep a body open after its last content, milliseconds. */
const END_WITHIN_MS = 200;

/** Reads a finished body to its end, so that its connection can be reused. Cancels a body that does not end in time. */
export function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): void {
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
