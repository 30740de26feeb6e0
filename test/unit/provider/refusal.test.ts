import { describe, expect, it } from "vitest";
import { type ErrorKinds, errorFrom } from "../../../src/provider/refusal.ts";

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
