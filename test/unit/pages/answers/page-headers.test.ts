import { describe, expect, it } from "vitest";
import { pageHeaders } from "../../../../src/pages/answers/page-headers.ts";

const headersOf = (url: string) =>
  pageHeaders({ url, status: 200, incomplete: null, overBudget: false })["x-page-url"];

describe("x-page-url", () => {
  it.each([
    "https://example.com/sign-in?next=%2Fhome%3Fa%3D1%26b%3D2",
    "https://example.com/a%20b%25c%E4%BD%A0#%23",
    "https://example.com/broken%zz?q=100%",
    "https://[2001:db8::1]:8080/a|b?{c}",
  ])("is the address itself: %s", (url) => {
    expect(headersOf(url)).toBe(url);
  });

  it("has only characters that are valid in a header, and a limited length", () => {
    expect(headersOf("https://example.com/ü\r\nx: y\ud800")).toBe(
      "https://example.com/%C3%BC%0D%0Ax:%20y%EF%BF%BD",
    );
    expect(headersOf(`https://example.com/${"a".repeat(3_000)}`)).toHaveLength(2_000);
  });
});
