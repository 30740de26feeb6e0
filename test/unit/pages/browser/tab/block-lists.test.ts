import { createRequire } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { blockLists } from "../../../../../scripts/build-block-lists.mjs";
import { parseBlockLists } from "../../../../../src/pages/browser/tab/block-lists.ts";
import { TabPolicy } from "../../../../../src/pages/browser/tab/tab-policy.ts";

const { entities } = createRequire(import.meta.url)("third-party-web/nostats-subset");
const lists = parseBlockLists(blockLists(entities));

const PAGE = "shop.example";

describe("the block lists", () => {
  it.each([
    "securepubads.g.doubleclick.net",
    "doubleclick.net",
    "PAGEAD2.googlesyndication.com",
    "ib.adnxs.com",
    "static.criteo.net",
  ])("list %s as an advertising server", (host) => {
    expect(lists.isAd(host, PAGE)).toBe(true);
  });

  it.each(["cdn.cookielaw.org", "consent.cookiebot.com", "sdk.privacy-center.org"])(
    "list %s as a server of cookie banners",
    (host) => {
      expect(lists.isConsent(host, PAGE)).toBe(true);
    },
  );

  it.each([
    "example.com",
    "www.google.com",
    "fonts.googleapis.com",
    "cdn.jsdelivr.net",
    "unpkg.com",
    "notdoubleclick.net",
    "",
    "com",
    "127.0.0.1",
  ])("do not list %j", (host) => {
    expect([lists.isAd(host, PAGE), lists.isConsent(host, PAGE)]).toEqual([false, false]);
  });
});

describe("a listed host", () => {
  const own = parseBlockLists(
    "ad ads.co.uk ads.github.io example.net static.example.net ads.big.example\nconsent",
  );

  it.each([
    // The same public suffix is not the same site.
    ["ads.co.uk", "shop.co.uk", true],
    ["cdn.ads.github.io", "somebody.github.io", true],
    // Some listed hosts have pages of their own.
    ["cdn.ads.co.uk", "www.ads.co.uk", false],
    ["ads.co.uk", "www.ads.co.uk", false],
    ["static.example.net", "www.example.net", false],
    ["notads.co.uk", "shop.co.uk", false],
    ["ads.co.uk", "notads.co.uk", true],
    // The list names this part of the site.
    ["ads.big.example", "www.big.example", true],
  ])("%s on a page of %s", (host, page, isBlocked) => {
    expect([own.isAd(host, page), own.isConsent(host, page)]).toEqual([isBlocked, false]);
  });
});

describe("the rules for a tab's requests", () => {
  it("refuse blocked hosts, but never the page itself", () => {
    const policy = new TabPolicy("frame", { requests: 10, bytes: 100 }, on());
    policy.setBlockedHosts((host) => host === "ads.example");
    expect(policy.admitRequest("https://ads.example/a.js", false)).toBe(false);
    expect(policy.admitRequest("https://ads.example/", true)).toBe(true);
    expect(policy.admitRequest("https://example.com/a.js", false)).toBe(true);
    expect(policy.overBudget).toBe(false);
  });

  it("refuse further requests when the page has reached its limit of requests or bytes", () => {
    const byCount = new TabPolicy("frame", { requests: 2, bytes: 100 }, on());
    expect([1, 2, 3].map((n) => byCount.admitRequest(`https://example.com/${n}`, false))).toEqual([
      true,
      true,
      false,
    ]);
    expect(byCount.overBudget).toBe(true);
    const byBytes = new TabPolicy("frame", { requests: 20, bytes: 100 }, on());
    byBytes.countBytes(100);
    expect(byBytes.admitRequest("https://example.com/", false)).toBe(true);
    byBytes.countBytes(1);
    expect(byBytes.admitRequest("https://example.com/", false)).toBe(false);
  });

  it("report when the page navigates to a forbidden address", () => {
    const handlers = on();
    const policy = new TabPolicy("frame", { requests: 9, bytes: 9 }, handlers);
    policy.checkNavigation(true);
    expect(handlers.onForbiddenNavigation).not.toHaveBeenCalled();
    policy.checkNavigation(false);
    expect(handlers.onForbiddenNavigation).toHaveBeenCalledOnce();
  });

  it("report once when the page exceeds its bytes, and once more at twice that number", () => {
    const handlers = on();
    const policy = new TabPolicy("frame", { requests: 9, bytes: 10 }, handlers);
    policy.countBytes(10);
    expect([policy.overBudget, handlers.onByteLimit.mock.calls.length]).toEqual([false, 0]);
    for (const bytes of [1, 1, 8, 1, 50]) policy.countBytes(bytes);
    expect([
      policy.overBudget,
      handlers.onByteLimit.mock.calls.length,
      handlers.onTrafficFlood.mock.calls.length,
    ]).toEqual([true, 1, 1]);
  });
});

const on = () => ({
  onForbiddenNavigation: vi.fn(),
  onByteLimit: vi.fn(),
  onTrafficFlood: vi.fn(),
  onRequestFlood: vi.fn(),
});
