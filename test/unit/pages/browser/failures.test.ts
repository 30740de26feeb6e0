import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { isBrowserGone, navigationFailure, overloaded } from "../../../../src/pages/browser/failures.ts";
import { fromRpcResult, toRpcResult } from "../../../../src/pages/browser/rpc-result.ts";

describe("a page that the browser cannot load", () => {
  it.each([
    ["net::ERR_NAME_NOT_RESOLVED at http://x.invalid/", 502, "page_dns_failed"],
    ["net::ERR_DNS_MALFORMED_RESPONSE", 502, "page_dns_failed"],
    ["net::ERR_CERT_AUTHORITY_INVALID at https://x/", 502, "page_tls_failed"],
    ["net::ERR_SSL_PROTOCOL_ERROR", 502, "page_tls_failed"],
    ["net::ERR_TOO_MANY_REDIRECTS", 502, "page_redirect_loop"],
    ["net::ERR_CONNECTION_TIMED_OUT", 504, "page_timeout"],
    ["net::ERR_CONNECTION_REFUSED", 502, "page_unreachable"],
    ["net::ERR_SOCKS_CONNECTION_FAILED", 502, "page_unreachable"],
    ["something else", 502, "page_unreachable"],
  ])("is an error with the right status and code: %j", (text, status, code) => {
    expect(navigationFailure(text)).toMatchObject({ status, code, param: "url" });
  });
});

describe("results between a browser and the page service", () => {
  it("carry a value, or all fields of an error", async () => {
    expect(fromRpcResult(await toRpcResult(Promise.resolve(7)))).toBe(7);
    const answer = JSON.parse(JSON.stringify(await toRpcResult(Promise.reject(overloaded()))));
    let thrown: unknown;
    try {
      fromRpcResult(answer);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(thrown).toMatchObject({
      status: 503,
      code: "overloaded",
      message: overloaded().message,
      headers: { "retry-after": "5" },
    });
  });

  it("hide the details of internal errors", async () => {
    const answer = await toRpcResult(Promise.reject(new TypeError("secret")));
    expect(JSON.stringify(answer)).not.toContain("secret");
    expect(answer).toMatchObject({ ok: false, failure: { status: 502 } });
  });
});

describe("the end of a browser", () => {
  it.each([
    "Protocol error (Page.navigate): Target closed",
    "Session closed. Most likely the page has been closed.",
    "Navigating frame was detached",
    "browser has been closed",
  ])("is recognized from %j", (message) => {
    expect(isBrowserGone(new Error(message))).toBe(true);
  });

  it("is not confused with the failure of a page", () => {
    expect(isBrowserGone(new Error("net::ERR_CONNECTION_REFUSED"))).toBe(false);
    expect(isBrowserGone(navigationFailure("net::ERR_CONNECTION_CLOSED"))).toBe(false);
  });
});
