/**
 * Whether the runtime has workerd's byte channel. It is cheaper than a `TransformStream` and reports a failed write at once.
 */
export const HAS_NATIVE_CHANNEL = typeof IdentityTransformStream === "function";

/** Creates a byte stream without a queue: a write resolves when the reader has taken it. */
export function byteChannel(): {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
} {
  return typeof IdentityTransformStream === "function"
    ? new IdentityTransformStream()
    : new TransformStream<Uint8Array, Uint8Array>();
}
