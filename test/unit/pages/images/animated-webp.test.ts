import { describe, expect, it } from "vitest";
import { joinFrames } from "../../../../src/pages/images/animated-webp.ts";
import { readImageSize } from "../../../../src/pages/images/image-size.ts";

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
/** A still image of other chunks and one with an odd number of bytes. */
const STILL = bytesOf("RIFF\x1a\0\0\0WEBPEXIF\x02\0\0\0xxVP8 \x03\0\0\0abc\0");

describe("an animated WebP", () => {
  it("has the pixels and durations of its frames, and states its size", () => {
    const animation = joinFrames(
      [
        { image: STILL, durationMs: 800 },
        { image: STILL, durationMs: 100 },
      ],
      { width: 300, height: 2 },
    );
    expect(readImageSize(animation)).toEqual({ width: 300, height: 2 });
    const text = Buffer.from(animation).toString("latin1");
    expect(animation.byteLength).toBe(8 + Buffer.from(animation).readUInt32LE(4));
    const frame = (duration: string) =>
      `ANMF\x1c\0\0\0\0\0\0\0\0\0\x2b\x01\0\x01\0\0${duration}\x02VP8 \x03\0\0\0abc\0`;
    expect(text.slice(0, 16)).toMatch(/^RIFF.{4}WEBPVP8X$/s);
    expect(text.endsWith(frame("\x20\x03\0") + frame("\x64\0\0"))).toBe(true);
  });
});
