import { describe, expect, it } from "vitest";
import { OriginSecrets } from "../../../../../src/pages/browser/tab/origin-secrets.ts";

const PAGE = "https://example.com/page";
const SECRETS = {
  headers: [
    { name: "x-token", value: "t" },
    { name: "authorization", value: "Basic x" },
  ],
  cookies: [{ name: "session", value: "s" }],
};

describe("the caller's secrets for a page", () => {
  const create = (clear = async () => {}) => new OriginSecrets(PAGE, SECRETS, clear);
  const sent = (secrets: OriginSecrets, url: string, isMainFrame = true, headers = {}) =>
    secrets.headersFor({ url, isMainFrame, headers }).map(({ name }) => name);

  it("are sent with the main frame's requests to the page's origin, and replace headers of the same names", () => {
    const headers = { Accept: "*/*", "X-Token": "old" };
    expect(sent(create(), "https://example.com/data", true, headers)).toEqual([
      "Accept",
      "x-token",
      "authorization",
    ]);
  });

  it.each([
    "https://example.com.evil.org/",
    "https://sub.example.com/",
    "https://example.com:8443/",
    "http://example.com/",
    "https://evil.org/?https://example.com/",
    "data:text/html,x",
    "not an address",
  ])("are never sent to %s, not even after a redirect", (url) => {
    const headers = { accept: "*/*", "x-token": "t", Authorization: "Basic x" };
    expect(sent(create(), url, true, headers)).toEqual(["accept"]);
  });

  it("are not sent by other frames", () => {
    expect(sent(create(), PAGE, false)).toEqual([]);
  });

  it("are removed for good when the main frame goes to another origin, cookies before the request is sent", async () => {
    let cleared = 0;
    const secrets = create(async () => {
      cleared++;
    });
    await secrets.admitNavigation("https://example.com/other");
    expect([cleared, sent(secrets, PAGE).length]).toEqual([0, 2]);
    await secrets.admitNavigation("https://evil.org/");
    await secrets.admitNavigation(PAGE);
    expect([cleared, sent(secrets, PAGE)]).toEqual([1, []]);
  });

  it("stop the request if the cookies cannot be removed", async () => {
    const secrets = create(() => Promise.reject(new Error("gone")));
    await expect(secrets.admitNavigation("https://evil.org/")).rejects.toThrow("gone");
  });

  it("show which requests would send cookies to another origin of the same host", () => {
    const leaks = (url: string) => create().leaksCookies(url);
    expect(["https://example.com:8443/", "http://example.com/"].map(leaks)).toEqual([true, true]);
    expect([PAGE, "https://evil.org/", "data:,x", ""].map(leaks)).toEqual([false, false, false, false]);
  });
});
