import { describe, expect, it } from "vitest";
import { GatewayError, toGatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { errorResponse, STANDARD_FAMILY } from "../../../../src/core/routing/error-formats.ts";
import { CONTENT_FAMILY } from "../../../../src/gateway/dialects/content-generation/family.ts";
import { MESSAGE_FAMILY } from "../../../../src/gateway/dialects/messages/family.ts";
import { ADMIN_FAMILY } from "../../../../src/operator/admin/family.ts";

const error = new GatewayError(400, "bad", { code: "invalid_request", param: "model" });

describe("error bodies", () => {
  it("are {error: {message, type, code, param}} for chat, responses and root shortcuts", () => {
    expect(STANDARD_FAMILY.formatError(error)).toEqual({
      error: { message: "bad", type: "invalid_request_error", code: "invalid_request", param: "model" },
    });
  });

  it("have a top-level type and the request id in the message style", () => {
    expect(MESSAGE_FAMILY.formatError(error, "req_1")).toMatchObject({
      type: "error",
      error: { message: "bad", param: "model" },
      request_id: "req_1",
    });
  });

  it("are {error: {code, message, status}} in the content-generation style", () => {
    expect(CONTENT_FAMILY.formatError(error)).toEqual({
      error: { code: 400, message: "bad", status: "INVALID_ARGUMENT" },
    });
  });

  it("are {detail} in the admin API", () => {
    expect(ADMIN_FAMILY.formatError(error)).toEqual({ detail: "bad" });
  });

  it("have no Retry-After with a 429", () => {
    const busy = new GatewayError(429, "busy", { code: "concurrency_limit_exceeded" });
    expect(errorResponse(STANDARD_FAMILY, busy).headers.has("retry-after")).toBe(false);
  });

  it("are a 500 with only the request id for unexpected failures", () => {
    const hidden = toGatewayError(new TypeError("secret detail"), "req_1");
    expect(JSON.stringify(STANDARD_FAMILY.formatError(hidden))).not.toContain("secret");
    expect([hidden.status, hidden.message]).toEqual([500, "internal error (request req_1)"]);
  });
});
