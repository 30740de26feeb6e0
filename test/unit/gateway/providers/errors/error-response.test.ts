import { describe, expect, it } from "vitest";
import { describeForAdministrator } from "../../../../../src/core/errors/failure-message.ts";
import { providerErrorToGateway } from "../../../../../src/core/errors/provider-error.ts";
import { errorResponse, STANDARD_FAMILY } from "../../../../../src/core/routing/error-formats.ts";
import { CONTENT_FAMILY } from "../../../../../src/gateway/dialects/content-generation/family.ts";
import { MESSAGE_FAMILY } from "../../../../../src/gateway/dialects/messages/family.ts";
import {
  type ErrorKinds,
  readErrorResponse,
  toProviderError,
} from "../../../../../src/gateway/providers/errors/error-response.ts";

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
    [
      "the words of a refused key with a 400",
      { code: "Client specified an invalid argument", error: "Incorrect API key provided: xk***ad." },
      400,
      "token_expired",
    ],
    ["the same words at the beginning alone", { error: "bad text: Invalid API key" }, 400, "invalid_request"],
  ])("is derived from %s", (_what, body, status, kind) => {
    expect(toProviderError(body, status, "", kinds).kind).toBe(kind);
  });
});

it.each([407, 421, 426])("takes a refused connection (%d) for a failure of the provider", (status) => {
  expect(toProviderError({ error: { type: "strange" } }, status, "").kind).toBe("server_error");
});

it.each([2 ** 53, 1e308, -5, 418.5, 0])("ignores a code that is no HTTP status: %d", (code) => {
  expect(toProviderError({ error: { code, message: "no" } }, 0, "")).toMatchObject({
    status: 0,
    kind: "server_error",
  });
});

describe("the wait that a limited backend requests", () => {
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

  it("is stated in the body, and never in a header", async () => {
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

describe("the reason that a backend states", () => {
  const MISSING = "Field required";
  const read = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const response = new Response(body, { status: 400, headers });
    const { error } = await readErrorResponse(response, "sk-secret-token", new AbortController().signal);
    return error;
  };

  it.each<[string, unknown, string]>([
    [
      "a list of `detail`",
      { detail: [{ loc: ["body", "top_p"], msg: MISSING, type: "t" }] },
      `body.top_p: ${MISSING}`,
    ],
    [
      "several entries of `detail`",
      {
        detail: [
          {
            loc: ["body", "messages", 0, "role"],
            msg: "no such role",
            type: "enum",
            input: "the caller's words",
          },
          { loc: ["body", "n"], msg: "too many", type: "t" },
        ],
      },
      "body.messages.0.role: no such role; body.n: too many",
    ],
    ["an entry without a place", { detail: [{ loc: [[["x"]]], msg: MISSING }] }, MISSING],
    ["a text as `detail`", { detail: "no such model" }, "no such model"],
    ["an object as `detail`", { detail: { message: "no such model" } }, "no such model"],
    ["a list without a wrapper", [{ loc: ["body", "n"], msg: MISSING, type: "t" }], `body.n: ${MISSING}`],
    [
      "`detail` within `message`",
      { message: { detail: [{ loc: ["body"], msg: MISSING }] } },
      `body: ${MISSING}`,
    ],
    ["a list of `errors`", { errors: [{ code: 7, message: "no route" }, "no model"] }, "no route; no model"],
    ["`errors` within `error`", { error: { code: 7, errors: [{ message: "no route" }] } }, "no route"],
    ["a JSON text", "no such model", "no such model"],
    ["`message` before `error`", { error: "Bad Request", message: "no such model" }, "no such model"],
    ["the object `error` before `message`", { error: { message: "a" }, message: "b" }, "a"],
  ])("is read from %s", async (_where, body, reason) => {
    expect((await read(JSON.stringify(body))).message).toBe(`the provider says: ${reason}`);
  });

  it.each(["text/plain; charset=utf-8", "application/json", ""])(
    "is read from plain text (%s)",
    async (type) => {
      const { message } = await read("no such\n model", { "content-type": type });
      expect(message).toBe("the provider says: no such model");
    },
  );

  it.each([
    ["an HTML page", "<html>", {}],
    ["an HTML page without a tag at its start", "Sorry <b>", { "content-type": "text/html" }],
    ["JSON that was cut off", '{"message": "no', {}],
    ["bytes", new Uint8Array([1, 2, 255]), {}],
    ["an empty body", " ", {}],
    ["a list of numbers", '{"errors": [1, 2]}', {}],
    ["JSON that nests too deep", `${'{"error":'.repeat(5_000)}"x"${"}".repeat(5_000)}`, {}],
  ] as const)("is not read from %s", async (_what, body, headers) => {
    expect((await read(body, headers)).message).toBe("the provider failed (status 400)");
  });

  it("is marked once as the provider's words, also behind another gateway", async () => {
    for (const message of [
      "the provider says: no such model",
      "the provider says: the provider says: no such model",
      "no such model",
    ]) {
      expect((await read(JSON.stringify({ error: { message } }))).message).toBe(
        "the provider says: no such model",
      );
    }
  });

  it("is masked and bounded, and decides the kind", async () => {
    const { message } = await read(`bad sk-secret-token ${"x".repeat(5_000)}`);
    expect(message).toMatch(/^the provider says: bad \[masked\] x+$/);
    expect(message.length).toBeLessThan(530);
    const detail = [{ loc: ["body", "sk-secret-token"], msg: "sk-secret-token is wrong" }];
    expect((await read(JSON.stringify({ detail }))).message).toBe(
      "the provider says: body.[masked]: [masked] is wrong",
    );
    expect((await read("prompt is too long: 9 tokens")).kind).toBe("context_length");
  });
});

it("treats the plain 404 of a web server as a wrong address", async () => {
  for (const [text, told] of [
    ["404 page not found", "the provider failed (status 404): its address may lack a part such as /v1"],
    ["no model of this name", "the provider says: no model of this name"],
  ] as const) {
    const response = new Response(text, { status: 404, headers: { "content-type": "text/plain" } });
    const { error } = await readErrorResponse(response, "secret", new AbortController().signal);
    expect(error.message).toContain(told);
  }
});

describe("the message of a provider that refuses an account", () => {
  const refuse = (message: string) =>
    toProviderError(
      { error: { message, code: "invalid_api_key" } },
      401,
      "sk-abcd-secret-of-the-account-wxyz",
    );

  it("is shown to administrators, not to callers", () => {
    const error = refuse("This project has been archived. See https://vendor.example/help/401.");
    expect(error.message).toBe("the provider refused the account's token");
    expect(providerErrorToGateway(error).message).toBe(error.message);
    expect(describeForAdministrator(error)).toBe(
      "the provider refused the account's token; the provider says: This project has been archived. See https://vendor.example/help/401. (token_expired)",
    );
  });

  it("keeps a helpful address, although the key begins like its host", () => {
    const message = "Overdue. Pay at https://vendor.example/billing.";
    const error = toProviderError({ error: { message } }, 403, "vendor-key-0123456789");
    expect(error.upstreamWords).toBe(message);
  });

  it.each([
    "Incorrect API key provided: sk-abcd****wxyz.",
    "Incorrect API key provided: sk-a...wxyz",
    "Incorrect API key provided: (ends with wxyz)",
    "Incorrect API key provided: f3a9c81b22d04e5f",
    "Incorrect API key provided: sk-abcd-secret-of-the-account-wxyz",
  ])("contains no part of the credential: %s", (message) => {
    const { upstreamWords } = refuse(message);
    expect(upstreamWords).toMatch(/^Incorrect API key provided: .*\[masked\]/);
    expect(upstreamWords).not.toMatch(/sk-a|wxyz|f3a9/);
  });
});

describe("a message that quotes a part of the account's key", () => {
  const secret = "sk-zzfirst-MIDDLE-lastyy";

  it.each([
    ["Rate limit for key sk-zzfirst-MIDDL...lastyy", 429, "Rate limit for key [masked]"],
    ["No quota for sk-z****styy today", 500, "No quota for [masked] today"],
    ["The key (sk-zzfirst) is slow", 400, "The key [masked] is slow"],
    ["messages.1: content... is too long", 400, "messages.1: content... is too long"],
    ["Use sk-other...wxyz or a4f0b1c2d3e4f5a6b7c8", 400, "Use sk-other...wxyz or a4f0b1c2d3e4f5a6b7c8"],
  ])("is passed on without it: %s", (message, status, expected) => {
    for (const isVerbatim of [true, false]) {
      const error = toProviderError({ error: { message } }, status, secret, { isVerbatim });
      expect(error.message.replace(/^the provider says: /, "")).toBe(expected);
    }
  });
});
