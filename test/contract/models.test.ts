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

  it("has model objects with id, object, created, owned_by and an empty permission", async () => {
    const model = await (await fetch("/v1/models/provider-v4-pro")).json();
    expect(model).toEqual({
      id: "provider-v4-pro",
      object: "model",
      created: expect.any(Number),
      owned_by: expect.any(String),
      permission: [],
    });
  });

  it("returns the canonical model of an alias", async () => {
    expect(await (await fetch("/v1/models/gpt-4o")).json()).toMatchObject({ id: "provider-v4-flash" });
  });

  it("answers 404 of type invalid_request_error for an unknown model", async () => {
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

describe("the paths that several styles share", () => {
  it("answer in the content-generation style if its SDK's header contains the key", async () => {
    const headers = { "x-goog-api-key": "sk-dev" };
    const body: { models: { name: string }[] } = await (await fetch("/v1/models", { headers })).json();
    expect(body.models.map(({ name }) => name)).toEqual(CANONICAL.map((id) => `models/${id}`));
    const one = await fetch("/v1/models/gemini-2.5-flash", { headers });
    expect(await one.json()).toMatchObject({ name: "models/gemini-2.5-flash", version: expect.any(String) });
    const missing = await fetch("/v1/models/none", { headers });
    expect(await missing.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  });

  it.each<[string, string, Record<string, string>]>([
    ["x-vendorc-api-key", "", { "x-vendorc-api-key": "sk-dev" }],
    ["?key=", "?key=sk-dev", {}],
    ["?api_key=", "?api_key=sk-dev", {}],
    ["vendorb-version", "", { "vendorb-version": "2023-06-01", "x-api-key": "sk-dev" }],
    ["vendorb-beta", "", { "vendorb-beta": "a", authorization: "Bearer sk-dev" }],
  ])("answer the same with %s (general rule 6)", async (_, query, headers) => {
    for (const path of ["/models", "/models/gpt-4o", "/models/none"]) {
      const bodies = await Promise.all(
        [path, `/v1${path}${query}`, `${path}${query}`].map(async (asked, index) =>
          (await fetch(asked, index === 0 ? {} : { headers })).json(),
        ),
      );
      expect(bodies[1]).toEqual(bodies[0]);
      expect(bodies[2]).toEqual(bodies[0]);
    }
  });

  it.each(["/vendorb/v1/models", "/anthropic/v1/models"])(
    "answer the message-style list at %s for all callers",
    async (path) => {
      for (const headers of [{}, { "vendorb-version": "2023-06-01" }, { "x-vendorc-api-key": "sk-dev" }]) {
        const body: { first_id: string; has_more: boolean; data: { id: string }[] } = await (
          await fetch(path, { headers: new Headers(headers) })
        ).json();
        expect(body).toMatchObject({ object: "list", has_more: false, first_id: body.data[0]?.id });
        expect(body.data.map(({ id }) => id)).toContain("claude-sonnet-4-5");
      }
    },
  );

  it("answer in the message style if its SDK's header states the version", async () => {
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

describe("pages of lists of models", () => {
  const listOf = async (path: string) => {
    const response = await fetch(path);
    const body: unknown = await response.json();
    return { status: response.status, ...Object(body) };
  };
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  it("of the message style have limit, after_id and before_id", async () => {
    const path = "/vendorb/v1/models";
    const all = idsOf(await listOf(path));
    const first = await listOf(`${path}?limit=3`);
    expect(first).toMatchObject({ first_id: all[0], last_id: all[2], has_more: true });
    expect(idsOf(first)).toEqual(all.slice(0, 3));
    const walked = idsOf(first);
    for (let page = first; page.has_more; ) {
      page = await listOf(`${path}?limit=3&after_id=${encodeURIComponent(page.last_id)}`);
      walked.push(...idsOf(page));
    }
    expect(walked).toEqual(all);
    const before = await listOf(`${path}?limit=2&before_id=${encodeURIComponent(String(all[4]))}`);
    expect([idsOf(before), before.has_more]).toEqual([all.slice(2, 4), true]);
    const start = await listOf(`${path}?limit=9&before_id=${encodeURIComponent(String(all[4]))}`);
    expect([idsOf(start), start.has_more]).toEqual([all.slice(0, 4), false]);
    expect(await listOf(`${path}?after_id=${encodeURIComponent(String(all.at(-1)))}`)).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
    for (const query of ["after_id=none", "before_id=none", "limit=0", "limit=x"]) {
      expect(await listOf(`${path}?${query}`)).toMatchObject({ status: 400, type: "error" });
    }
  });

  it("of the content-generation style support pageSize and pageToken", async () => {
    const path = "/v1beta/models";
    const namesOf = ({ models }: { models: { name: string }[] }) => models.map(({ name }) => name);
    const whole = await listOf(path);
    expect(whole).not.toHaveProperty("nextPageToken");
    expect(namesOf(await listOf(`${path}?pageSize=0`))).toEqual(namesOf(whole));
    let page = await listOf(`${path}?pageSize=4`);
    const walked = namesOf(page);
    expect(walked).toHaveLength(4);
    while (page.nextPageToken !== undefined) {
      page = await listOf(`${path}?pageSize=4&pageToken=${encodeURIComponent(page.nextPageToken)}`);
      walked.push(...namesOf(page));
    }
    expect(walked).toEqual(namesOf(whole));
    for (const query of ["pageToken=none", "pageSize=-1"]) {
      expect(await listOf(`${path}?${query}`)).toMatchObject({
        status: 400,
        error: { status: "INVALID_ARGUMENT" },
      });
    }
  });
});
