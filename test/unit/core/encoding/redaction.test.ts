import { expect, test } from "vitest";
import { selectStrictestMode } from "../../../../src/core/config/history-mode.ts";
import { redactText } from "../../../../src/core/encoding/redaction.ts";

test.each([
  ["write to Ada.Lovelace+work@mail.example.co.uk today", "write to [email] today"],
  ["card 4111 1111 1111 1111, code 123", "card [card], code 123"],
  ["card 4111-1111-1111-1111.", "card [card]."],
  ["not a card: 4111 1111 1111 1112", "not a card: 4111 1111 1111 1112"],
  ["call +49 30 1234567 or +1 (555) 123-4567", "call [phone] or [phone]"],
  ["call (030) 123 4567, 030/1234567 or 555-123-4567", "call [phone], [phone] or [phone]"],
  ["the key sk-proj-abcdefghijklmnop0123456789 is old", "the key [key] is old"],
  ["token ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token [key]"],
  ["AKIAIOSFODNN7EXAMPLE", "[key]"],
  ["Authorization: Bearer abcdefghijklmnop.qrst", "Authorization: Bearer [key]"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_X", "[key]"],
  ['{"text":"line\\n4111111111111111\\nada@example.com"}', '{"text":"line\\n[card]\\n[email]"}'],
])("redacts a secret: %j becomes %j", (text, redacted) => {
  expect(redactText(text)).toBe(redacted);
});

test.each([
  "on 2026-11-26 at 12:30:05, version 1.20.300, 192.168.100.200",
  "10 000 000 of 1,234,567.89 in 0.123456789 s",
  "the task-force of the risk-management-department-in-berlin",
  "Answer: 42. Order 1234567, page 100-200",
])("keeps ordinary text: %j", (text) => {
  expect(redactText(text)).toBe(text);
});

test("redacts a private key as a whole", () => {
  const text =
    "before -----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK/+=\n-----END RSA PRIVATE KEY----- after";
  expect(redactText(text)).toBe("before [key]-----END RSA PRIVATE KEY----- after");
});

test("applies the strictest of several modes", () => {
  expect(selectStrictestMode([undefined, "full"])).toBeUndefined();
  expect(selectStrictestMode(["redacted", undefined, "no_texts", "full"])).toBe("no_texts");
  expect(selectStrictestMode(["none", "redacted"])).toBe("none");
});
