import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../src/url-safety/index.ts";

describe("isPublicAddress", () => {
  it.each([
    "8.8.8.8",
    "1.0.0.1",
    "93.184.216.34",
    "2606:4700::1111",
    "2A00:1450:4001::200e",
    "::ffff:8.8.8.8",
    "2001:0:808:808::f7f7:f7f7",
  ])("%s is public", (ip) => {
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
    "2002:a00:1::",
    "ff02::1",
    "2001:db8::1",
  ])("%s is not", (ip) => {
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
  ])("%j is no address, so not public", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});
