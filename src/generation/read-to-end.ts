/** How long an upstream may keep a body open that has nothing more to say, milliseconds. */
const END_WITHIN_MS = 200;

/**
 * Lets a body that has said everything come to its end, which leaves its connection fit for the next request; one that
 * does not end is closed.
 */
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
