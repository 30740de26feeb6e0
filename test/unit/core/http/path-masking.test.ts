import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskPath } from "../../../../src/core/http/path-masking.ts";

/** A text as somebody may write it who does not want it to be known: in any case, escaped once or twice. */
const disguised = (plain: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...[...plain].map((character) => {
        const code = character.charCodeAt(0).toString(16);
        return fc.constantFrom(character, character.toUpperCase(), `%${code}`, `%25${code}`);
      }),
    )
    .map((characters) => characters.join(""));

const slashes = fc.constantFrom("/", "/", "//", "%2f", "%252F");

describe("a logged path", () => {
  it.each([
    "/admin/keys/sk-secret",
    "/admin/accounts/token:secret/proxy",
    "/admin//keys/sk-secret",
    "//admin/accounts//secret@host",
    "/Admin/Keys/sk-secret",
    "/admin/%6Beys/sk-secret",
    "/admin%2Fkeys%2Fsk-secret",
    "/admin%252Fkeys%252Fsk-secret",
    "/gateway/admin/keys/sk-secret",
    "/v1/jobs/sk-secret/results/0",
    "/v1beta/models/x:generateContent%3Fkey=sk-secret",
    "/v1beta/models/x:generateContent%3Falt=sse%26api_key%3Dsk-secret",
    "/v1beta/models/x;token=sk-secret",
  ])("hides what %s names", (path) => {
    expect(maskPath(path)).not.toContain("secret");
  });

  it("hides ids in every spelling", () => {
    const names = fc.constantFrom(["admin", "keys"], ["admin", "accounts"], ["v1", "jobs"]);
    const path = names.chain(([first = "", second = ""]) =>
      fc.tuple(
        fc.constantFrom("", "/gateway", "/a.b"),
        slashes,
        disguised(first),
        slashes,
        disguised(second),
      ),
    );
    fc.assert(
      fc.property(path, slashes, fc.constantFrom("", "/proxy", "?x"), (parts, slash, rest) => {
        expect(maskPath(`${parts.join("")}${slash}sk-secret${rest}`)).not.toContain("secret");
      }),
    );
  });

  it("hides a query that became part of it, in every spelling", () => {
    const mark = fc.constantFrom("?", "&", ";", "%3f", "%26", "%3B", "%253F");
    const name = fc.constantFrom("key", "token", "secret", "password").chain(disguised);
    fc.assert(
      fc.property(mark, name, fc.constantFrom("=", "%3d", "%253D"), (begin, parameter, sign) => {
        expect(maskPath(`/v1/x${begin}${parameter}${sign}sk-hidden`)).not.toContain("hidden");
      }),
    );
  });

  it("is otherwise unchanged, up to a maximum length", () => {
    expect(maskPath("/admin/keys")).toBe("/admin/keys");
    expect(maskPath("/v1/models/x")).toBe("/v1/models/x");
    expect(maskPath("/v1/jobs")).toBe("/v1/jobs");
    expect(maskPath("/a%20b;c")).toBe("/a%20b;c");
    expect(maskPath(`/${"a".repeat(499)}`)).toBe(`/${"a".repeat(499)}`);
    expect(maskPath(`/${"a".repeat(500)}`)).toBe(`/${"a".repeat(499)}…`);
    expect(maskPath(`/${"a".repeat(60_000)}`).length).toBeLessThan(600);
  });
});
