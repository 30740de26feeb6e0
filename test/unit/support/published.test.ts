import { describe, expect, it } from "vitest";
import { publishedFault } from "../../support/published.ts";

describe("what vendors publish of their APIs", () => {
  it.each([
    ["runner", "GET", "/api/version", { version: "1" }, { version: 1 }, "body/version: Instance type"],
    ["runner", "POST", "/api/chat", null, { model: "a" }, 'does not have required property "message"'],
    [
      "chat",
      "POST",
      "/v1/responses/input_tokens",
      null,
      { object: "a" },
      "not OpenAI's InputTokenCountResponse",
    ],
    [
      "messages",
      "POST",
      "/v1/messages/count_tokens",
      { input_tokens: 1 },
      {},
      "not Anthropic's MessageTokensCount",
    ],
    [
      "content",
      "POST",
      "/v1beta/models/a:countTokens",
      { totalTokens: 1 },
      { total: 1 },
      "body/total: is not described",
    ],
  ])("holds bodies of the family %s to it: %s %s", (family, method, path, right, wrong, fault) => {
    const route = { method, path, ok: true };
    if (right !== null) expect(publishedFault(family, route, right)).toBeUndefined();
    expect(publishedFault(family, route, wrong)).toContain(fault);
  });

  it("holds errors to it on every path of a family, and nothing where nothing is published", () => {
    const wrong = { error: 1 };
    expect(publishedFault("runner", { method: "GET", path: "/api/x", ok: false }, wrong)).toContain("Ollama");
    expect(publishedFault("chat", { method: "GET", path: "/v1/models", ok: true }, wrong)).toBeUndefined();
    expect(publishedFault("page", { method: "GET", path: "/page", ok: false }, wrong)).toBeUndefined();
  });
});
