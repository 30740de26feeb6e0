import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/operator/console/pages/transfer/parse-config.ts";

const config = { accounts: [{ email: "ünï@example.com" }] };

describe("a pasted configuration", () => {
  it("may be JSON, base64 of it, or the whole answer of an export", () => {
    const json = JSON.stringify(config);
    const base64 = Buffer.from(json).toString("base64");
    const wrapped = base64.replace(/(.{20})/g, "$1\n");
    for (const text of [json, ` ${json}\n`, base64, wrapped, JSON.stringify({ config, json, base64 })]) {
      expect(parseConfig(text)).toEqual(config);
    }
  });

  it.each(["", "nonsense", "[]", '"text"', "{"])("is refused with an explanation if it is %j", (text) => {
    expect(() => parseConfig(text)).toThrow(/JSON/);
  });

  it("is quoted in the error as typed, also if a word is valid base64", () => {
    // The bytes of the last one begin as an object does.
    for (const text of ["nonsense", "accounts", "configuration", "eyes"]) {
      expect(() => parseConfig(text)).toThrow(new RegExp(`^Invalid JSON: .*${text.slice(0, 8)}`));
    }
  });

  it("is reported as base64 without JSON if it is truncated base64", () => {
    const cut = Buffer.from('{"accounts": [').toString("base64");
    expect(() => parseConfig(cut)).toThrow(/^The base64 contains no JSON: /);
  });
});
