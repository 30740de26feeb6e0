import { describe, expect, it } from "vitest";
import { animate } from "../../../scripts/animated-webp.ts";

/** The shape of a still picture: a chunk of metadata, and one with image data of an odd length. */
function stillPicture(data: string): Buffer {
  const chunks = [
    ["EXIF", "none"],
    ["VP8 ", data],
  ] as const;
  const body = chunks.map(([name, content]) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([Buffer.from(name), size, Buffer.from(content), Buffer.alloc(content.length % 2)]);
  });
  return Buffer.concat([Buffer.from("RIFF0000WEBP"), ...body]);
}

describe("an animation of still pictures", () => {
  it("has each picture's image data once, with its size and duration", () => {
    const frames = [
      { picture: stillPicture("first"), ms: 90 },
      { picture: stillPicture("second"), ms: 70_000 },
    ];
    const file = animate(frames, 1_280, 760);
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    const found: { name: string; width: number; height: number; ms: number; image: string }[] = [];
    for (let at = 12; at < file.length; ) {
      const name = file.toString("latin1", at, at + 4);
      const content = file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4));
      if (name === "ANMF") {
        found.push({
          name,
          width: content.readUIntLE(6, 3) + 1,
          height: content.readUIntLE(9, 3) + 1,
          ms: content.readUIntLE(12, 3),
          image: content.toString("latin1", 24, 24 + content.readUInt32LE(20)),
        });
      }
      at += 8 + content.length + (content.length % 2);
    }
    const size = { name: "ANMF", width: 1_280, height: 760 };
    expect(found).toEqual([
      { ...size, ms: 90, image: "first" },
      { ...size, ms: 70_000, image: "second" },
    ]);
  });
});
