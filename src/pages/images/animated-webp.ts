import { concatBytes, toUtf8 } from "../../core/encoding/bytes.ts";
import type { Size } from "../../core/ports/page-browser.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A frame of an animation: a still WebP image, and for how long it is shown, milliseconds. */
export interface Frame {
  readonly image: Bytes;
  readonly durationMs: number;
}

/** Chunks of a still image that a frame contains (RFC 9649, section 2.7.1.1). */
const IMAGE_CHUNKS: ReadonlySet<string> = new Set(["ALPH", "VP8 ", "VP8L"]);
const HEADER_BYTES = 12;
/** The flag of an animation in the extended header. */
const ANIMATION_FLAG = 0x02;
/** Frames replace what is below them, instead of being blended with it. */
const DO_NOT_BLEND = 0x02;

/** Joins still WebP images of one size to an animation that repeats for ever (RFC 9649). Nothing is encoded again. */
export function joinFrames(frames: readonly Frame[], { width, height }: Size): Bytes {
  const size = [...int24(width - 1), ...int24(height - 1)];
  const chunks = [
    createChunk("VP8X", [Uint8Array.from([ANIMATION_FLAG, 0, 0, 0, ...size])]),
    createChunk("ANIM", [Uint8Array.from([255, 255, 255, 255, 0, 0])]),
    ...frames.map(({ image, durationMs }) => {
      const head = [...int24(0), ...int24(0), ...size, ...int24(durationMs), DO_NOT_BLEND];
      return createChunk("ANMF", [Uint8Array.from(head), ...readImageChunks(image)]);
    }),
  ];
  return createChunk("RIFF", [toUtf8("WEBP"), ...chunks]);
}

/** The chunks of a still image with its pixels, with their headers and padding. */
function readImageChunks(image: Bytes): Bytes[] {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const chunks: Bytes[] = [];
  for (let at = HEADER_BYTES; at + 8 <= image.byteLength; ) {
    const name = new TextDecoder("latin1").decode(image.subarray(at, at + 4));
    const length = view.getUint32(at + 4, true);
    const end = at + 8 + length + (length % 2);
    if (IMAGE_CHUNKS.has(name)) chunks.push(image.slice(at, end));
    at = end;
  }
  return chunks;
}

/** A chunk with its name, its length and padding to an even length. */
function createChunk(name: string, content: readonly Bytes[]): Bytes {
  const length = content.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const head = new Uint8Array(8);
  head.set(toUtf8(name));
  new DataView(head.buffer).setUint32(4, length, true);
  return concatBytes([head, ...content, new Uint8Array(length % 2)]);
}

function int24(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff];
}
