import { describe, expect, it } from "vitest";
import { providerErrorToGateway } from "../../../../src/core/errors/provider-error.ts";
import { errorResponse, STANDARD_FAMILY } from "../../../../src/core/routing/error-formats.ts";
import { CONTENT_FAMILY } from "../../../../src/gateway/dialects/content-generation/family.ts";
import { MESSAGE_FAMILY } from "../../../../src/gateway/dialects/messages/family.ts";
import {
  type ErrorKinds,
  errorFrom,
  readErrorResponse,
} from "../../../../src/gateway/providers/error-response.ts";

describe("the kind of a failure", () => {
  const kinds: ErrorKinds = {
    codes: new Map([["busy_error", "model_unavailable"]]),
    statuses: { 404: "model_unavailable" },
  };

  it.each([
    ["a code of the driver's", { error: { type: "busy_error" } }, 429, "model_unavailable"],
    ["a code that everybody knows", { error: { code: "rate_limited", type: "x" } }, 404, "rate_limited"],
    ["a status of the driver's", { error: { type: "strange" } }, 404, "model_unavailable"],
    ["the status", { error: { type: "strange" } }, 429, "rate_limited"],
    ["a code that is a status", { error: { code: 404 } }, 0, "model_unavailable"],
    ["nothing", {}, 0, "server_error"],
  ])("is told by %s", (_what, body, status, kind) => {
    expect(errorFrom(body, status, "", kinds).kind).toBe(kind);
  });
});

it.each([2 ** 53, 1e308, -5, 418.5, 0])("a code that is no HTTP status is none: %d", (code) => {
  expect(errorFrom({ error: { code, message: "no" } }, 0, "")).toMatchObject({
    status: 0,
    kind: "server_error",
  });
});

describe("how long a limited backend wants to be left alone", () => {
  const refused = async (headers: Record<string, string>) => {
    const response = Response.json({ error: { message: "slow down" } }, { status: 429, headers });
    const { error } = await readErrorResponse(response, "", new AbortController().signal);
    return error;
  };

  it.each([
    [{ "retry-after": "7" }, 7],
    [{ "retry-after": "0.5" }, 1],
    [{ "retry-after": "Sun, 22 Nov 2026 10:00:30 GMT", date: "Sun, 22 Nov 2026 10:00:00 GMT" }, 30],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "-3" }, null],
    [{ "retry-after": "9".repeat(300) }, 365 * 86_400],
    [{ "retry-after": "9".repeat(400) }, null],
    [{}, null],
  ])("is read from %j", async (headers, seconds) => {
    expect((await refused(headers)).retryAfter).toBe(seconds);
  });

  it("is told in the body, and never in a header", async () => {
    const error = providerErrorToGateway(await refused({ "retry-after": "7" }));
    for (const family of [STANDARD_FAMILY, MESSAGE_FAMILY]) {
      const response = errorResponse(family, error);
      expect(response.headers.has("retry-after")).toBe(false);
      expect(await response.json()).toMatchObject({
        error: { code: "upstream_rate_limited", details: { retry_after_seconds: 7 } },
      });
    }
    expect(CONTENT_FAMILY.formatError(error)).toMatchObject({
      error: { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "7s" }] },
    });
  });
});
