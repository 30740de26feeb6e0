import { describe, expect, it } from "vitest";
import { maskSecrets } from "../../../../src/core/encoding/secret-masking.ts";

const SECRET = 'p"äss/w\\ord & more';
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a text without secrets", () => {
  it.each([
    ["as it is", SECRET],
    ["within JSON", JSON.stringify({ password: SECRET })],
    ["within JSON within JSON", JSON.stringify({ body: JSON.stringify({ password: SECRET }) })],
    ["in an address", `https://x.test/?key=${encodeURIComponent(SECRET)}&a=1`],
    ["in base64", base64(SECRET)],
    ["in Basic credentials", `Basic ${base64(`u:${SECRET}`)}`],
    ["in Basic credentials of another user", `Basic ${base64(`me:${SECRET}`)}`],
    ["in base64url", Buffer.from(`{"k":"${SECRET}"}`).toString("base64url")],
  ])("has no secret that is repeated %s", (_how, text) => {
    const masked = maskSecrets(text, [SECRET]);
    expect(masked).toContain("[masked]");
    // What is left decodes to nothing of it.
    expect(masked).not.toContain("ord ");
    expect(Buffer.from(masked.replace("[masked]", ""), "base64").toString()).not.toContain("ss/w");
  });

  it("keeps a word that equals a short secret, unless it is alone in quotes", () => {
    expect(maskSecrets('the sandbox says "sandbox"', ["sandbox"])).toBe('the sandbox says "[masked]"');
    expect(maskSecrets(String.raw`{\"password\":\"sandbox\"}`, ["sandbox"])).not.toContain("sandbox");
  });

  it("does not end with the beginning of a secret if it was cut", () => {
    expect(maskSecrets("token: sk-0123456", ["sk-0123456789abcdef"], true)).toBe("token: [masked]");
    expect(maskSecrets("token: sk-0123456", ["sk-0123456789abcdef"])).toBe("token: sk-0123456");
    // The beginning stands behind what seemed to be one.
    expect(maskSecrets("ababababa", ["abababacdef"], true)).toBe("ab[masked]");
    expect(maskSecrets("abababa", ["abababacdef"], true)).toBe("[masked]");
    expect(maskSecrets("ababa", ["abababacdef"], true)).toBe("ababa");
  });

  it("is unchanged without secrets, and with empty or malformed ones", () => {
    expect(maskSecrets("text", ["", "a", "\ud800 lone surrogate"])).toBe("text");
  });
});
