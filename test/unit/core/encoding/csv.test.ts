import { describe, expect, it } from "vitest";
import { encodeCsvField } from "../../../../src/core/encoding/csv.ts";

describe("a field of a CSV file", () => {
  it.each([
    ["a plain text", "provider-v4-pro", "provider-v4-pro"],
    ["nothing", "", ""],
    ["a comma", "a,b", '"a,b"'],
    ["quotes", 'say "a"', '"say ""a"""'],
    ["a line end", "a\nb", '"a\nb"'],
    ["a semicolon, which separates fields in some countries", "a;b", '"a;b"'],
    ["a tab", "a\tb", '"a\tb"'],
    ["a number", 1.5, "1.5"],
    ["a number below zero, which no spreadsheet runs", -1, "-1"],
    ["a truth value", false, "false"],
  ])("is %s", (_name, value, field) => {
    expect(encodeCsvField(value)).toBe(field);
  });

  it.each(["=", "+", "-", "@", "＝", "＋", "－", "＠"])(
    "is no formula if its text begins with %j",
    (sign) => {
      expect(encodeCsvField(`${sign}cmd()`)).toBe(`'${sign}cmd()`);
    },
  );

  it("is no formula if its quoted text would be one", () => {
    expect(encodeCsvField('\r=A1,"b"')).toBe(`"'\r'=A1,""b"""`);
    expect(encodeCsvField("\t@A1")).toBe(`"'\t'@A1"`);
  });

  it.each([";", "\t", "\r", "\n", "\r\n"])("is no formula after %j as separator", (sign) => {
    const field = encodeCsvField(`a${sign}=A1`);
    expect(field).toContain("'=A1");
    expect(field).toMatch(/^"[^"]*"$/);
  });

  it("is no formula after a separator within quotes", () => {
    expect(encodeCsvField('a;"=A1"')).toBe(`"a;'""=A1"""`);
  });

  it("is unchanged if the sign is not at its start", () => {
    expect(encodeCsvField("a=b")).toBe("a=b");
  });
});
