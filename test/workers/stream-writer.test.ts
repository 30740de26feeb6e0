import { expect, test } from "vitest";
import { StreamWriter } from "../../src/gateway/generation/stream-writer.ts";

const TEXTS = Array.from({ length: 120 }, (_, index) => `${index} é😀 `.repeat(1 + ((index * 37) % 150)));

test.each([
  ["one after the other", true],
  ["all at once", false],
])(
  "texts that are written %s arrive unchanged, although they are encoded into the same buffer",
  async (_, waits) => {
    let took = 0;
    const writer = new StreamWriter(60_000, {
      onRead: (bytes) => {
        took += bytes;
      },
      onDisconnect: () => {},
    });
    const read = writer.ready.then((readable) => new Response(readable).text());
    const writes: (Promise<void> | undefined)[] = [];
    for (const text of TEXTS) {
      const written = writer.write(text);
      writes.push(written);
      if (waits) await written;
    }
    await Promise.all(writes);
    await writer.close();
    const whole = TEXTS.join("");
    expect(await read).toBe(whole);
    expect(took).toBe(new TextEncoder().encode(whole).length);
  },
);
