import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeHostFault } from "../../src/core/config/host-syntax.ts";
import { withoutTrailingSlashes } from "../../src/core/encoding/path-segment.ts";
import { MASK, maskSecrets } from "../../src/core/encoding/secret-masking.ts";
import { maskPath } from "../../src/core/http/path-masking.ts";
import { isUnguessable } from "../../src/gateway/providers/answers/reasoning-cache.ts";
import { ECHO_PATTERN } from "../../src/gateway/providers/errors/redact-echoed-input.ts";
import { sentencePattern } from "../../src/gateway/providers/refused-fields/rejection-patterns.ts";
import { isOlder } from "../../src/operator/admin/version-lookup.ts";
import { countSheets } from "../../src/pages/browser/capture/print.ts";

/** Texts of a few pieces each, so that most of them come close to a match. */
const textOf = (...parts: readonly string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((list) => list.join(""));

/** Compares a rewritten expression with the one that took more than linear time, which says what is right. */
function same<T>(texts: fc.Arbitrary<string>, before: (text: string) => T, now: (text: string) => T): void {
  fc.assert(
    fc.property(texts, (text) => {
      expect(now(text)).toEqual(before(text));
    }),
    { numRuns: 2_000 },
  );
}

describe("an expression in linear time finds what its predecessor found:", () => {
  it("a sentence that says two things", () => {
    const texts = textOf("thinking", "unknown", "not support", " ", "a", ".", '"', "signature");
    for (const [first, second] of [
      ["thinking", "not support"],
      ["not support|unknown", "thinking"],
      ["signature", "unknown"],
    ] as const) {
      same(
        texts,
        (text) => new RegExp(`(?:${first})[^."]*(?:${second})`, "i").test(text),
        (text) => sentencePattern(first, second, '".').test(text),
      );
    }
  });

  it("what a refusal may repeat", () => {
    const old =
      /(?<![\w\\])(["'`])(?:(?!\1).){1,300}\1(?!\w)|\[[^[\]]{1,300}\]|\w+(?:\.\w+)+|\w*(?:_|[a-z](?=[A-Z]))\w*/g;
    const texts = textOf("a", "B", "_", ".", "..", '"', "'", "[", "]", " ", "\\", "aB", "1");
    same(
      texts,
      (text) => text.match(old),
      (text) => text.match(ECHO_PATTERN),
    );
  });

  it("a short secret in quotation marks", () => {
    const old = /(\\*["'`])abcd\1/g;
    const replaced = (text: string) => text.replace(old, (_, mark: string) => mark + MASK + mark);
    const texts = textOf("abcd", '"', "'", "\\", "\\\\", "abc", " ");
    same(
      texts,
      // A mark that ends one and begins the next counted for the first alone: the second was seen only in another pass.
      (text) => replaced(replaced(text)),
      (text) => maskSecrets(text, ["abcd"]),
    );
  });

  it("an id that nobody can guess", () => {
    const old = /(?:(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{16,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
    const uuid = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f";
    const texts = textOf("abcdefgh", "01234567", "aB", "1", "-", "_", uuid, "\n");
    same(
      texts,
      (text) => text.length <= 200 && old.test(text),
      (text) => isUnguessable(text),
    );
  });

  it("a host", () => {
    const old = /^(?:[^\s\p{Cc}/:@?#[\]\\]+|\[?[\da-f:.]*:[\da-f:.]*\]?)$/iu;
    const texts = textOf(":", "::", "a", "g", ".", "[", "]", "1", " ", "@");
    same(
      texts,
      (text) => old.test(text),
      (text) => describeHostFault(text) === null,
    );
  });

  it("a credential in the query of a path", () => {
    const old = /([?&;][\w.-]*(?:key|token|secret|password)[\w.-]*=)[^&;]*/gi;
    const texts = textOf("?", "&", ";", "key", "token", "a", "=", "-", "=b").map((text) => `/v1/x${text}`);
    same(
      texts,
      (text) => text.replace(old, "$1…"),
      (text) => maskPath(text),
    );
  });

  it("the sheets of a PDF", () => {
    const old = /\/Type\s*\/Pages\b[^>]*?\/Count\s+(\d+)/g;
    const texts = textOf("/Type", " ", "/Pages", "/Page", "/Count 1", "/Count 22", "/Count", ">", "<<", "x");
    same(
      texts,
      (text) => Number([...text.matchAll(old)].at(-1)?.[1] ?? 0),
      (text) => countSheets(new TextEncoder().encode(text)),
    );
  });

  it("the end of an address", () => {
    same(
      textOf("/", "a", "//"),
      (text) => text.replace(/\/+$/, ""),
      (text) => withoutTrailingSlashes(text),
    );
  });
});

it("a build's metadata does not make a version older", () => {
  expect(isOlder("1.2.3+build-1+more", "1.2.3")).toBe(false);
  expect(isOlder("1.2.3-rc.1+build", "1.2.3")).toBe(true);
});
