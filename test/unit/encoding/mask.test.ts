import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../../src/encoding/mask.ts";

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
  ])("has none that is repeated %s", (_how, text) => {
    const masked = withoutSecrets(text, [SECRET]);
    expect(masked).toContain("[masked]");
    // What is left decodes to nothing of it.
    expect(masked).not.toContain("ord ");
    expect(Buffer.from(masked.replace("[masked]", ""), "base64").toString()).not.toContain("ss/w");
  });

  it("keeps a word that happens to be a short secret, but not where it stands alone in quotes", () => {
    expect(withoutSecrets('the sandbox says "sandbox"', ["sandbox"])).toBe('the sandbox says "[masked]"');
    expect(withoutSecrets(String.raw`{\"password\":\"sandbox\"}`, ["sandbox"])).not.toContain("sandbox");
  });

  it("does not end with the beginning of one, if it was cut", () => {
    expect(withoutSecrets("token: sk-0123456", ["sk-0123456789abcdef"], true)).toBe("token: [masked]");
    expect(withoutSecrets("token: sk-0123456", ["sk-0123456789abcdef"])).toBe("token: sk-0123456");
    // The beginning stands behind what seemed to be one.
    expect(withoutSecrets("ababababa", ["abababacdef"], true)).toBe("ab[masked]");
    expect(withoutSecrets("abababa", ["abababacdef"], true)).toBe("[masked]");
    expect(withoutSecrets("ababa", ["abababacdef"], true)).toBe("ababa");
  });

  it("is the same without any, also with ones that are empty or broken", () => {
    expect(withoutSecrets("text", ["", "a", "\ud800 lone surrogate"])).toBe("text");
  });
});
