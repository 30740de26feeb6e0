import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_ENV, callAdmin } from "../../../../support/memory-admin.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../../support/memory-gateway.ts";

const createGateway = useMemoryGateway();

const provider = {
  id: "oa",
  driver: "openai",
  base_url: "http://vendor.test/v1",
  token: "sk-vendor",
  models: { small: {}, large: {} },
};
const MODELS = ["oa/small", "oa/large"];

describe("the model routes that an administrator edits", () => {
  let gateway: MemoryGateway;
  beforeEach(async () => {
    gateway = await createGateway({
      env: ADMIN_ENV,
      config: { providers: [provider], model_routes: { first: MODELS } },
    });
  });

  const call = (method: string, path = "", body?: object, headers = {}) =>
    callAdmin(gateway, method, `/routes${path}`, body, headers);

  test("are added, read, changed, renamed and deleted one by one", async () => {
    const added = await call("POST", "", { name: "any", models: ["oa/small"], strategy: "fastest" });
    expect(added).toMatchObject({
      status: 200,
      body: { name: "any", models: ["oa/small"], strategy: "fastest" },
    });
    expect((await call("GET", "/any")).body).toEqual(added.body);
    expect(await call("PUT", "/any", { name: "other", models: MODELS })).toMatchObject({
      status: 200,
      body: { name: "other", models: MODELS, strategy: "fastest" },
    });
    expect((await call("GET")).body).toMatchObject({
      total: 2,
      items: [{ name: "first" }, { name: "other" }],
    });
    expect((await call("GET", "/any")).status).toBe(404);
    expect(await call("DELETE", "/other")).toMatchObject({ status: 200, body: { total_routes: 1 } });
    expect((await call("DELETE", "/other")).status).toBe(404);
  });

  test.each([
    ["another route has the name, in any case", { name: "FIRST", models: MODELS }, 409, "name"],
    ["an address cannot have the name", { name: "..", models: MODELS }, 400, "name"],
    ["an address cannot have so long a name", { name: "x".repeat(513), models: MODELS }, 400, "at most 512"],
    ["a half of a character would disguise the name", { name: "x\ud800", models: MODELS }, 400, "surrogate"],
    ["a control character would disguise the name", { name: "x\u0007", models: MODELS }, 400, "control"],
    ["it has no model", { name: "any", models: [] }, 400, "models"],
    [
      "its strategy does not use the weights",
      { name: "any", models: [{ model: "oa/small", weight: 2 }, "oa/large"], strategy: "fastest" },
      400,
      "models",
    ],
    ["it has an unknown strategy", { name: "any", models: MODELS, strategy: "luck" }, 400, "strategy"],
  ])("are refused if %s", async (_, body, status, field) => {
    expect(await call("POST", "", body)).toMatchObject({
      status,
      body: { detail: expect.stringContaining(field) },
    });
    expect((await call("GET")).body).toMatchObject({ total: 1 });
  });

  test("are not overwritten by an edit of an earlier version", async () => {
    const { headers } = await call("GET", "/first");
    const tag = { "if-match": headers.get("etag") ?? "" };
    expect((await call("PUT", "/first", { strategy: "fastest" }, tag)).status).toBe(200);
    expect((await call("PUT", "/first", { strategy: "order" }, tag)).status).toBe(412);
    expect((await call("GET", "/first")).body).toMatchObject({ strategy: "fastest" });
  });
});
