import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAccounts } from "../../../../src/operator/console/pages/accounts/parse-accounts.ts";

describe("a pasted list of accounts", () => {
  it.each([
    ["one@example.com:secret", { email: "one@example.com", password: "secret" }],
    ["one@example.com:with:colons", { email: "one@example.com", password: "with:colons" }],
    ["one@example.com, secret", { email: "one@example.com", password: "secret" }],
    ["one@example.com;secret", { email: "one@example.com", password: "secret" }],
    ["one@example.com\tsecret", { email: "one@example.com", password: "secret" }],
    ["one@example.com  secret word", { email: "one@example.com", password: "secret word" }],
    ["+15550100:secret", { mobile: "+15550100", password: "secret" }],
  ])("reads %j", (line, account) => {
    expect(parseAccounts(line)).toEqual({ accounts: [account], problems: [] });
  });

  it("skips empty lines and comments, and names the lines that are invalid", () => {
    const { accounts, problems } = parseAccounts("# mine\r\n\r\na@b.c:x\r\nnonsense\r\n12:x\r\n");
    expect(accounts).toHaveLength(1);
    expect(problems).toEqual([
      "Line 4 is not of the form login:password.",
      "Line 5 is not of the form login:password.",
    ]);
  });

  it("reads a JSON list and an object with accounts", () => {
    const list = [{ email: "a@b.c", password: "x" }, { token: "t" }, { name: "nobody" }];
    for (const text of [JSON.stringify(list), JSON.stringify({ accounts: list })]) {
      const { accounts, problems } = parseAccounts(text);
      expect(accounts.map(({ email, token }) => email || token)).toEqual(["a@b.c", "t"]);
      expect(problems).toEqual(["Item 3 has no email, mobile or token."]);
    }
  });

  it("reports broken JSON, and JSON without accounts", () => {
    expect(parseAccounts('[{"email":').problems[0]).toMatch(/^Invalid JSON/);
    expect(parseAccounts('{"keys": []}').problems).toEqual(["The JSON contains no list of accounts."]);
  });

  it("keeps any password that follows a colon", () => {
    const password = fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/);
    fc.assert(
      fc.property(password, (secret) => {
        expect(parseAccounts(`a@b.c:${secret}`).accounts).toEqual([{ email: "a@b.c", password: secret }]);
      }),
    );
  });
});
