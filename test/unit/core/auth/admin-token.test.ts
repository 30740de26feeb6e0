import { decodeJwt, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { checkToken, issueToken } from "../../../../src/core/auth/admin-token.ts";
import { looksLikeToken } from "../../../../src/core/auth/token-detection.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const NOW = 1_800_000_000_000;
const OWNER = { id: null, epoch: "of the admin key" };

describe("administrators' tokens", () => {
  it("are valid for exactly their lifetime", async () => {
    const token = await issueToken(SECRET, NOW, 60, OWNER);
    expect(looksLikeToken(token)).toBe(true);
    const end = NOW / 1000 + 60;
    expect(await checkToken(token, SECRET, 0, NOW)).toEqual({
      valid: true,
      expiresAt: end,
      id: expect.stringMatching(/^[\da-f]{8}$/),
      holder: OWNER,
    });
    expect(await checkToken(token, SECRET, 0, NOW + 59_000)).toMatchObject({ valid: true });
    expect(await checkToken(token, SECRET, 0, NOW + 60_000)).toEqual({ valid: false, expired: true });
    expect(decodeJwt(token)).toMatchObject({ iat: NOW / 1000, exp: end });
  });

  it("end when the administrator revokes older tokens", async () => {
    const token = await issueToken(SECRET, NOW, 60, OWNER);
    expect(await checkToken(token, SECRET, NOW / 1000, NOW)).toMatchObject({ valid: true });
    expect(await checkToken(token, SECRET, NOW / 1000 + 1, NOW)).toEqual({ valid: false, expired: true });
  });

  it("are refused with another secret, another subject, another algorithm, or when altered", async () => {
    const token = await issueToken(SECRET, NOW, 60, OWNER);
    const key = new TextEncoder().encode(SECRET);
    const foreign = await new SignJWT({
      sub: "guest",
      iss: "polygate",
      iat: NOW / 1000,
      exp: NOW / 1000 + 60,
    })
      .setProtectedHeader({ alg: "HS256" })
      .sign(key);
    const longer = await new SignJWT(decodeJwt(token))
      .setProtectedHeader({ alg: "HS512" })
      .sign(new Uint8Array([...key, ...key]));
    const [header, payload, signature] = token.split(".");
    const altered = [header, btoa('{"sub":"administrator","exp":9999999999}'), signature].join(".");
    const unsigned = [btoa('{"alg":"none"}'), payload, ""].join(".");
    for (const wrong of [foreign, longer, altered, unsigned, "", "a.b.c"]) {
      expect(await checkToken(wrong, SECRET, 0, NOW)).toEqual({ valid: false, expired: false });
    }
    expect(await checkToken(token, `${SECRET}x`, 0, NOW)).toEqual({ valid: false, expired: false });
  });
});
