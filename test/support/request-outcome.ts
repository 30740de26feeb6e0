import type { RequestOutcome } from "../../src/core/ports/request-outcome.ts";

/** The outcome of a successful request, with changes. */
export const createOutcome = (changes: Partial<RequestOutcome> = {}): RequestOutcome => ({
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  requestId: "id",
  uniqueRequestId: "req_0123456789abcdef0123456789abcdef",
  startedAt: 1_800_000_000_000,
  durationMs: 1,
  facts: {},
  ...changes,
});
