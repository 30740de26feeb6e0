// Joins still WebP pictures to an animation (https://developers.google.com/speed/webp/docs/riff_container).

const number = (value: number, bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, at) => (value >>> (8 * at)) & 255));

function chunk(name: string, content: Buffer): Buffer {
  const padding = content.length % 2;
  return Buffer.concat([Buffer.from(name), number(content.length, 4), content, Buffer.alloc(padding)]);
}

/** The chunks with the image data of a still picture. */
function imageChunks(picture: Buffer): Buffer {
  const found: Buffer[] = [];
  for (let at = 12; at + 8 <= picture.length; ) {
    const size = picture.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    if (/^(?:VP8 |VP8L|ALPH)$/.test(picture.toString("latin1", at, at + 4)))
      found.push(picture.subarray(at, end));
    at = end;
  }
  return Buffer.concat(found);
}

/** A frame of an animation. */
export interface Frame {
  /** A still WebP picture of the full size. */
  readonly picture: Buffer;
  /** How long it is shown, milliseconds. */
  readonly ms: number;
}

/** Returns the animation. It repeats for ever. */
export function animate(frames: readonly Frame[], width: number, height: number): Buffer {
  const size = Buffer.concat([number(width - 1, 3), number(height - 1, 3)]);
  const chunks = frames.map(({ picture, ms }) => {
    // At the origin; the flag replaces what is below instead of blending with it.
    const header = Buffer.concat([Buffer.alloc(6), size, number(ms, 3), number(2, 1)]);
    return chunk("ANMF", Buffer.concat([header, imageChunks(picture)]));
  });
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    chunk("VP8X", Buffer.concat([number(2, 4), size])),
    chunk("ANIM", Buffer.alloc(6)),
    ...chunks,
  ]);
  return Buffer.concat([Buffer.from("RIFF"), number(body.length, 4), body]);
}
