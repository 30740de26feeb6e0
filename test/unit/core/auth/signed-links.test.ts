import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasValidSignature, signLink } from "../../../../src/core/auth/signed-links.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const DIGEST = sha256("sk-test");

/** The recipe of the documentation, by other means. */
function byRecipe(key: string, path: string, query: string): string {
  return createHmac("sha256", `polygate-link:${sha256(key)}`)
    .update(`${path}?${query}`)
    .digest("base64url");
}

async function signed(query: Record<string, string>): Promise<URLSearchParams> {
  const made = new URLSearchParams(query);
  made.set("signature", await signLink(DIGEST, "/v1/thumbs", made));
  return made;
}

describe("a signed link", () => {
  it("has the signature that the documentation describes", async () => {
    const query = new URLSearchParams({
      url: "https://example.com/a b?c=d&e=ü",
      size: "og",
      keyId: "key_1",
      expires: "1900000000",
    });
    const sorted =
      "expires=1900000000&keyId=key_1&size=og&url=https%3A%2F%2Fexample.com%2Fa+b%3Fc%3Dd%26e%3D%C3%BC";
    expect(await signLink(DIGEST, "/v1/thumbs/", query)).toBe(byRecipe("sk-test", "/v1/thumbs", sorted));
  });

  it("is valid with its parameters in any order and spelling", async () => {
    const query = await signed({ url: "example.com/ä b", size: "og", expires: "1" });
    const turned = new URLSearchParams([...query].reverse());
    const respelt = new URLSearchParams(`${turned}`.replaceAll("+", "%20"));
    expect(await hasValidSignature(DIGEST, "/v1/thumbs/", respelt)).toBe(true);
  });

  it("is valid only for what was signed", async () => {
    const names = ["url", "size", "full", "expires", "keyId"] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...names), fc.string()),
        fc.constantFrom(...names, "other"),
        fc.string(),
        async (given, name, value) => {
          const query = await signed(given);
          expect(await hasValidSignature(DIGEST, "/v1/thumbs", query)).toBe(true);
          expect(await hasValidSignature(DIGEST, "/v1/technologies", query)).toBe(false);
          expect(await hasValidSignature(sha256("sk-other"), "/v1/thumbs", query)).toBe(false);
          const changed = new URLSearchParams(query);
          changed.set(name, value);
          expect(await hasValidSignature(DIGEST, "/v1/thumbs", changed)).toBe(query.get(name) === value);
          const added = new URLSearchParams(query);
          added.append(name, value);
          expect(await hasValidSignature(DIGEST, "/v1/thumbs", added)).toBe(false);
          const removed = new URLSearchParams(query);
          removed.delete(name);
          expect(await hasValidSignature(DIGEST, "/v1/thumbs", removed)).toBe(!query.has(name));
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each(["", "!", "AAAA", "Ω"])("is refused with the signature %j", async (signature) => {
    const query = await signed({ url: "example.com" });
    query.set("signature", signature);
    expect(await hasValidSignature(DIGEST, "/v1/thumbs", query)).toBe(false);
    query.append("signature", await signLink(DIGEST, "/v1/thumbs", query));
    expect(await hasValidSignature(DIGEST, "/v1/thumbs", query)).toBe(false);
  });
});
