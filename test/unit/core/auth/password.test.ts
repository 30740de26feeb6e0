import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashPassword, verifyPassword } from "../../../../src/core/auth/password.ts";
import { equalSecrets } from "../../../../src/core/auth/secrets.ts";
import { isShortenedSecret, shortenSecret } from "../../../../src/core/config/marked-secrets.ts";

describe("passwords", () => {
  it("are stored as salted PBKDF2, which only the same password matches", async () => {
    const [one, other] = await Promise.all([hashPassword("pässword"), hashPassword("pässword")]);
    expect(one).toMatch(/^pbkdf2-sha256\$100000\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(other);
    expect(await verifyPassword("pässword", one)).toBe(true);
    expect(await verifyPassword("passWord", one)).toBe(false);
  });

  it.each([
    "",
    "admin",
    "pbkdf2-sha256$1",
    "pbkdf2-sha256$900000$AAAA$AAAA",
    "pbkdf2-sha256$1$*$*",
    "md5$1$a$b",
  ])("never match the broken hash %j", async (stored) => {
    expect(await verifyPassword("admin", stored)).toBe(false);
    expect(await verifyPassword("", stored)).toBe(false);
  });
});

describe("secrets", () => {
  it("are equal only if all characters are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (one, other) => {
        expect(await equalSecrets(one, other)).toBe(one === other);
      }),
    );
  });

  it("are shortened to at most half of their characters, and the short form is recognized", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100 }), (secret) => {
        const shown = shortenSecret(secret);
        expect(isShortenedSecret(shown)).toBe(true);
        expect(shown.replace("****", "").length).toBeLessThanOrEqual(secret.length / 2);
      }),
    );
    expect(shortenSecret("")).toBe("");
  });
});
