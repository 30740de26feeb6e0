/** A signal that aborts when one of two does; the first may be absent. */
export const eitherSignal = (first: AbortSignal | undefined, second: AbortSignal): AbortSignal =>
  first === undefined ? second : AbortSignal.any([first, second]);

/**
 * Calls `listener` once when the signal aborts, or at once if it already has.
 *
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
