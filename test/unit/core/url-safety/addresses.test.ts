import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../../src/core/url-safety/index.ts";

describe("a network address", () => {
  it.each([
    "8.8.8.8",
    "1.0.0.1",
    "93.184.216.34",
    "2606:4700::1111",
    "2A00:1450:4001::200e",
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:0:808:808::f7f7:f7f7",
    "2606:4700::5efe:8.8.8.8",
  ])("is public: %s", (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "168.63.129.16",
    "0.0.0.0",
    "::",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "::10.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1::7f00:1",
    "64:ff9b:0:0:1::1",
    "2002:a00:1::",
    "2002:7f00:1::1",
    "2002:a83f:8110::1",
    "2001:0:a00:1::f7f7:f7f7",
    "2001:0:808:808::80ff:fffe",
    "2606:4700::5efe:a00:1",
    "2606:4700::200:5efe:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "ff02::1",
    "2001:db8::1",
  ])("is not public: %s", (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each([
    "",
    "example.com",
    "8.8.8",
    "08.8.8.8",
    "0x8.8.8.8",
    "134744072",
    "8.8.8.8.",
    "[2606:4700::1111]",
    "2606:4700::1111%eth0",
    "8.8.8.8:53",
    " 8.8.8.8",
  ])("is not public if it is not an address: %j", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});
