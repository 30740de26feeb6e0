/** Whether there is workerd's byte channel, which costs less than a `TransformStream` and shows a failed write at once. */
export const HAS_NATIVE_CHANNEL = typeof IdentityTransformStream === "function";

/** Two ends of a stream of bytes without a queue: a write resolves when the reader has taken it. */
export function byteChannel(): {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
} {
  return typeof IdentityTransformStream === "function"
    ? new IdentityTransformStream()
    : new TransformStream<Uint8Array, Uint8Array>();
}
