import { describe, expect, it } from "vitest";
import { isRebindable } from "../../../../src/core/http/host-name.ts";

const hostOf = (authority: string) => new URL(`http://${authority}/`).hostname;

describe("the host name of a request", () => {
  it.each([
    "localhost",
    "LOCALHOST:8787",
    "localhost.:8787",
    "gateway.localhost",
    "127.0.0.1:8787",
    "0x7f.1",
    "192.168.1.20",
    "[::1]:8787",
    "[fe80::1]",
  ])("cannot be rebound if it is %s", (authority) => {
    expect(isRebindable(hostOf(authority))).toBe(false);
  });

  it.each([
    "evil.example:8787",
    "localhost.evil.example",
    "evil-localhost",
    "127.0.0.1.evil.example",
    "1.2.3.4.nip.io",
    "gateway",
    "my-machine.local",
  ])("can be rebound if it is %s", (authority) => {
    expect(isRebindable(hostOf(authority))).toBe(true);
  });
});
