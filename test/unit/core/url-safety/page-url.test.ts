import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkPageUrl,
  isPublicRequestUrl,
  parsePrivateHosts,
} from "../../../../src/core/url-safety/index.ts";
import { accepted, refused } from "./forms.ts";

const strict = { privateHosts: new Set<string>() };

describe("a page URL that is refused", () => {
  for (const [code, inputs] of Object.entries(refused)) {
    it.each(inputs)(`${code}: %j`, (input) => {
      expect(checkPageUrl(input, strict)).toMatchObject({ ok: false, code });
    });
  }

  it("is tested in more than 150 forms", () => {
    expect(new Set(Object.values(refused).flat()).size).toBeGreaterThan(150);
  });

  it("gets a message that names the parameter", () => {
    for (const input of Object.values(refused).flat()) {
      const check = checkPageUrl(input, strict);
      expect(check.ok ? "" : check.message).toContain("parameter url");
    }
  });
});

describe("a page URL that is accepted", () => {
  it.each(accepted)("is normalized: %j to %j", (input, href) => {
    const check = checkPageUrl(input, strict);
    expect(check.ok ? check.url.href : check).toBe(href);
  });

  it("may have the maximum length, but not more", () => {
    const base = "https://example.com/";
    expect(checkPageUrl(base + "a".repeat(8192 - base.length), strict).ok).toBe(true);
    expect(checkPageUrl(base + "a".repeat(8193 - base.length), strict)).toMatchObject({
      code: "url_too_long",
    });
  });
});

describe("a private address in development", () => {
  const options = {
    privateHosts: parsePrivateHosts("127.0.0.1:8080, localhost:9000 ,[::1]:3000,page.test:80"),
  };

  it.each([
    ["http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"],
    ["http://0x7f.1:8080/", "http://127.0.0.1:8080/"],
    ["localhost:9000", "http://localhost:9000/"],
    ["http://LOCALHOST.:9000", "http://localhost.:9000/"],
    ["http://[0:0::1]:3000", "http://[::1]:3000/"],
    ["page.test", "http://page.test/"],
  ])("may be opened if it is listed: %j", (input, href) => {
    const check = checkPageUrl(input, options);
    expect(check.ok ? check.url.href : check).toBe(href);
  });

  it.each([
    "http://127.0.0.1:8081/",
    "http://127.0.0.1/",
    "http://127.0.0.2:8080",
    "localhost:9001",
    "https://localhost",
  ])("is refused if it is not listed: %j", (input) => {
    expect(checkPageUrl(input, options)).toMatchObject({ ok: false, code: "url_host_forbidden" });
  });

  it("is refused with credentials, even for a listed host", () => {
    expect(checkPageUrl("http://u:p@127.0.0.1:8080/", options)).toMatchObject({
      code: "url_credentials_forbidden",
    });
  });

  it("is refused if the setting is empty or malformed", () => {
    for (const text of [
      undefined,
      "",
      " , ",
      "127.0.0.1",
      "http://127.0.0.1:80",
      "127.0.0.1:8080/path",
      "a b:80",
      "u@h:80",
    ]) {
      expect([...parsePrivateHosts(text)]).toEqual([]);
    }
  });
});

describe("a request of a page", () => {
  it.each([
    "https://example.com/x.png",
    "http://example.com:8080/",
    "wss://example.com/socket",
    "https://user:pass@example.com/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "data:image/png;base64,AAAA",
    "blob:https://example.com/5b1c",
    "about:blank",
    "about:srcdoc",
  ])("may go to %j", (url) => {
    expect(isPublicRequestUrl(url, strict)).toBe(true);
  });

  it.each([
    "",
    "not a url",
    "http://127.0.0.1/",
    "http://0177.0.0.1/",
    "http://[::ffff:10.0.0.1]/",
    "https://169.254.169.254/latest/meta-data/",
    "ws://127.0.0.1:9222/devtools",
    "wss://localhost/",
    "http://router/",
    "http://printer.local/",
    "https://example.com:22/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "chrome://version",
    "chrome-extension://abc/x.js",
    "view-source:https://example.com",
    "filesystem:https://example.com/temporary/x",
    "javascript:alert(1)",
    "about:version",
    "devtools://devtools/bundled/inspector.html",
  ])("must not go to %j", (url) => {
    expect(isPublicRequestUrl(url, strict)).toBe(false);
  });

  it("may go to a listed private host, on the listed port only", () => {
    const options = { privateHosts: parsePrivateHosts("127.0.0.1:8080") };
    expect(isPublicRequestUrl("http://127.0.0.1:8080/x", options)).toBe(true);
    expect(isPublicRequestUrl("http://127.0.0.1:8081/x", options)).toBe(false);
  });
});

describe("any URL", () => {
  it("is accepted only if it is http(s), has no credentials and passes the request check; it never throws", () => {
    const piece = fc.constantFrom(
      "http:",
      "https:",
      "//",
      "\\",
      "@",
      ":",
      ".",
      "127.0.0.1",
      "localhost",
      "[::1]",
      "a.b",
      "%2e",
      "\t",
      "。",
      "①",
      "8080",
      "/",
      "?",
      "#",
    );
    const input = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.array(piece, { maxLength: 9 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(input, (text) => {
        const check = checkPageUrl(text, strict);
        if (!check.ok) return;
        expect(check.url.protocol).toMatch(/^https?:$/);
        expect(check.url.username + check.url.password).toBe("");
        expect(isPublicRequestUrl(check.url.href, strict)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("is refused in every spelling of a private IPv4 address", () => {
    const byte = fc.nat({ max: 255 });
    const address = fc.oneof(
      fc.tuple(fc.constantFrom(10, 127, 0, 240), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
    );
    fc.assert(
      fc.property(address, ([a, b, c, d]) => {
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const hex = (value: number) => value.toString(16);
        const spellings = [
          `${a}.${b}.${c}.${d}`,
          `${a}.${b}.${c * 256 + d}`,
          `${a}.${number % 2 ** 24}`,
          String(number),
          `0x${hex(number)}`,
          `0${number.toString(8)}`,
          `0x${hex(a)}.0${b.toString(8)}.${c}.${d}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
          `[64:ff9b::${a}.${b}.${c}.${d}]`,
          `[2002:${hex(a * 256 + b)}:${hex(c * 256 + d)}::1]`,
          `${a}%2e${b}%2E${c}.${d}`,
        ];
        for (const host of spellings) {
          expect(checkPageUrl(`https://${host}/`, strict), host).toMatchObject({ ok: false });
        }
      }),
    );
  });
});
