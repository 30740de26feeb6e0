import { describe, expect, it } from "vitest";
import { ErrorMask } from "../../../../src/gateway/passthrough/error-mask.ts";

const TOKEN = 'account-token "ü" with/odd+characters';
const KIB = 1_024;
const FORMS: Readonly<Record<string, string>> = {
  "as it is": TOKEN,
  "in JSON": JSON.stringify(TOKEN),
  "in JSON within JSON": JSON.stringify(JSON.stringify(TOKEN)),
  "in a URL": encodeURIComponent(TOKEN),
  "in base64": Buffer.from(`x${TOKEN}`).toString("base64"),
};
/** The shortest part of a form that nobody should see. */
const PART = 16;

/** Sends a text in pieces. Returns what leaves, and the most bytes that were held. */
function send(text: string, piece: number, isEventStream: boolean) {
  const mask = new ErrorMask([TOKEN], isEventStream);
  const bytes = new TextEncoder().encode(text);
  const sent: Uint8Array[] = [];
  let sentBytes = 0;
  let held = 0;
  for (let at = 0; at < bytes.length; at += piece) {
    const out = mask.push(bytes.slice(at, at + piece));
    sent.push(out);
    sentBytes += out.length;
    held = Math.max(held, Math.min(at + piece, bytes.length) - sentBytes);
  }
  sent.push(mask.finish());
  return { text: Buffer.concat(sent).toString(), held };
}

describe.each([
  ["JSON", false],
  ["a line of an event", true],
])("%s that is longer than what is held", (_, isEventStream) => {
  it.each(Object.entries(FORMS))("does not show the token %s, wherever a piece ends", (_, form) => {
    for (const piece of [97, 5 * KIB, 16 * KIB + 1]) {
      const text = `{"error": {"message": "${"ü".repeat(50 * KIB)} no quota for ${form} today ${"y".repeat(9 * KIB)}"}}\n`;
      const sent = send(text, piece, isEventStream);
      expect(sent.text).toContain("no quota for");
      expect(sent.text).toContain("[masked]");
      for (let at = 2; at + PART < form.length - 2; at += 1)
        expect(sent.text).not.toContain(form.slice(at, at + PART));
      expect(sent.text.endsWith(`${"y".repeat(9 * KIB)}"}}\n`)).toBe(true);
    }
  });

  it("keeps every byte of an answer without a token", () => {
    const text = `{"error": "${"üx€😀".repeat(20 * KIB)}"}\n`;
    for (const piece of [101, 64 * KIB]) expect(send(text, piece, isEventStream).text).toBe(text);
  });

  it("keeps the characters around a token, wherever a piece ends", () => {
    const around = "üx€😀".repeat(15 * KIB);
    for (const piece of [97, 101, 16 * KIB + 1]) {
      const sent = send(`{"error": "${around}${TOKEN}${around}"}\n`, piece, isEventStream);
      expect(sent.text === `{"error": "${around}[masked]${around}"}\n`, String(piece)).toBe(true);
    }
  });

  it("holds no more than a line that may be an event", () => {
    const { held } = send(`"error${"\u0080".repeat(300 * KIB)}`, 1 * KIB, isEventStream);
    expect(held).toBeLessThanOrEqual(65 * KIB);
  });
});

it("sends an event at the end of its line, also after a long one", () => {
  const mask = new ErrorMask([TOKEN], true);
  const push = (text: string) => new TextDecoder().decode(mask.push(new TextEncoder().encode(text)));
  const long = `data: ${"x".repeat(80 * KIB)}`;
  expect((push(long) + push("y\n\n")).length).toBe(long.length + 3);
  expect(push("data: short\n\ndata: begun")).toBe("data: short\n\n");
  expect(push("\n\n")).toBe("data: begun\n\n");
});
