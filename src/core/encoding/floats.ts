import { fromBase64, toBase64 } from "./bytes.ts";

const FLOAT_BYTES = 4;

/** Encodes numbers as base64 of little-endian 32-bit floats. */
export function encodeFloats(numbers: ArrayLike<number>): string {
  const view = new DataView(new ArrayBuffer(numbers.length * FLOAT_BYTES));
  for (let index = 0; index < numbers.length; index += 1) {
    view.setFloat32(index * FLOAT_BYTES, numbers[index] ?? 0, true);
  }
  return toBase64(new Uint8Array(view.buffer));
}

/** Decodes base64 of at least one little-endian 32-bit float. Null: the text is something else. */
export function decodeFloats(text: string): Float32Array | null {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64(text);
  } catch {
    return null;
  }
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return null;
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) =>
    view.getFloat32(index * FLOAT_BYTES, true),
  );
}
