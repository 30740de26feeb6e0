import { describe, expect, it } from "vitest";
import { clientAddress } from "../../../../src/runtime/cloudflare/client-address.ts";

const request = new Request("https://gateway.test/", {
  headers: { "cf-connecting-ip": "203.0.113.1", "x-forwarded-for": "198.51.100.7, 203.0.113.2" },
});

describe("the client's address on Workers", () => {
  it.each([
    ["is the one that Cloudflare sets", false, null, "203.0.113.1"],
    ["is unknown in development, where clients can set it themselves", true, null, ""],
    ["is the last one of the header of a trusted proxy", false, "x-forwarded-for", "203.0.113.2"],
    ["is so in development, too", true, "x-forwarded-for", "203.0.113.2"],
    ["is unknown if the trusted proxy tells none", false, "x-real-ip", ""],
  ])("%s", (_, development, clientAddressHeader, expected) => {
    expect(clientAddress(request, { development, clientAddressHeader })).toBe(expected);
  });

  it.each([
    ["203.0.113.2:51234", "203.0.113.2"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["198.51.100.7:1, 203.0.113.2:2", "203.0.113.2"],
  ])("has no port: %s", (text, expected) => {
    const request = new Request("https://gateway.test/", { headers: { "x-forwarded-for": text } });
    expect(clientAddress(request, { development: false, clientAddressHeader: "x-forwarded-for" })).toBe(
      expected,
    );
  });
});
