import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const { fetch, chat } = useGateway();

const CANONICAL = [
  "provider-v4-flash",
  "provider-v4-flash-nothinking",
  "provider-v4-pro",
  "provider-v4-pro-nothinking",
  "provider-v4-flash-search",
  "provider-v4-flash-search-nothinking",
  "provider-v4-pro-search",
  "provider-v4-pro-search-nothinking",
  "provider-v4-vision",
  "provider-v4-vision-nothinking",
];

describe("GET /v1/models and /v1/models/{id}", () => {
  it("lists the canonical ids in order, aliases not expanded", async () => {
    const body: { object: string; data: { id: string }[] } = await (await fetch("/v1/models")).json();
    expect(body.object).toBe("list");
    expect(body.data.map(({ id }) => id)).toEqual(CANONICAL);
  });

  it("a model object has id, object, created, owned_by and an empty permission", async () => {
    const model = await (await fetch("/v1/models/provider-v4-pro")).json();
    expect(model).toEqual({
      id: "provider-v4-pro",
      object: "model",
      created: expect.any(Number),
      owned_by: expect.any(String),
      permission: [],
    });
  });

  it("an alias returns the mapped canonical model", async () => {
    expect(await (await fetch("/v1/models/gpt-4o")).json()).toMatchObject({ id: "provider-v4-flash" });
  });

  it("an unknown model is a 404 of type invalid_request_error", async () => {
    const response = await fetch("/v1/models/none");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "model_not_found" },
    });
  });

  it.each(["nobody-knows-me", "claude-2.1", "claude-instant-1.2", "gpt-3.5-turbo"])(
    "asking %s is an invalid_request_error on `model`",
    async (model) => {
      const response = await chat("x", { model });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { type: "invalid_request_error", code: "model_not_found", param: "model" },
      });
    },
  );
});

describe("on the paths that several styles share", () => {
  it.each([
    ["x-goog-api-key", "/v1/models", { "x-goog-api-key": "sk-dev" }],
    ["x-vendorc-api-key", "/v1/models", { "x-vendorc-api-key": "sk-dev" }],
    ["?key=", "/v1/models?key=sk-dev", {}],
  ])("%s asks for the content-generation style", async (_, path, headers) => {
    const body: { models: { name: string }[] } = await (await fetch(path, { headers })).json();
    expect(body.models.map(({ name }) => name)).toEqual(CANONICAL.map((id) => `models/${id}`));
    const one = await fetch(path.replace("/models", "/models/gemini-2.5-flash"), { headers });
    expect(await one.json()).toMatchObject({ name: "models/gemini-2.5-flash", version: expect.any(String) });
    const missing = await fetch(path.replace("/models", "/models/none"), { headers });
    expect(await missing.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  });

  it("a version of the message style asks for that", async () => {
    const headers = { "anthropic-version": "2023-06-01", "x-api-key": "sk-dev" };
    const body: { data: { id: string; type: string }[]; has_more: boolean } = await (
      await fetch("/v1/models", { headers })
    ).json();
    expect(body).toMatchObject({ has_more: false });
    expect(body.data.map(({ id }) => id)).toContain("claude-sonnet-4-5");
    expect(await (await fetch("/v1/models/claude-sonnet-4-5", { headers })).json()).toMatchObject({
      id: "claude-sonnet-4-5",
      type: "model",
    });
  });
});
