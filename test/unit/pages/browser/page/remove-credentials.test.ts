import { expect, it } from "vitest";
import { removeCredentials } from "../../../../../src/pages/browser/page/remove-credentials.ts";

it.each([
  ["http://user:secret@example.com:8080/a%2Fb?q=1#part", "http://example.com:8080/a%2Fb?q=1#part"],
  ["https://user@example.com/", "https://example.com/"],
  ["https://example.com/broken%zz?mail=a@example.com", "https://example.com/broken%zz?mail=a@example.com"],
  ["https://example.com/@user", "https://example.com/@user"],
  ["about:blank", "about:blank"],
])("removes user name and password from an address: %s", (address, shown) => {
  expect(removeCredentials(address)).toBe(shown);
});
