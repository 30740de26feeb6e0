import { describe, expect, test, vi } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";

const createGateway = useMemoryGateway();

const WITH_ADMIN = { env: { ADMIN_KEY: "an-admin-key" } };

/** The body of an error in a family's shape (docs/contract/errors.md). */
type Shape = (status: number, code: string) => unknown;

const message = expect.stringMatching(/.+/);
const type = expect.stringMatching(/_error$/);
const standard: Shape = (_, code) => ({ error: { message, type, code, param: null } });
const messageStyle: Shape = (_, code) => ({
  type: "error",
  error: { message, type, code, param: null },
  request_id: expect.stringMatching(/^req_/),
});
const contentStyle: Shape = (status) => ({
  error: { code: status, message, status: expect.stringMatching(/^[A-Z_]+$/) },
});
const runner: Shape = () => ({ error: message });
const administration: Shape = () => ({ detail: message });

async function expectError(response: Response, status: number, code: string, shape: Shape): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("retry-after")).toBeNull();
  expect(await response.json()).toEqual(shape(status, code));
}

describe("a path that no route has is a 404 in the shape of its family", () => {
  test.each<[string, string, Shape]>([
    ["GET", "/nothing", standard],
    ["GET", "/v1", standard],
    ["GET", "/v1/nothing", standard],
    ["POST", "/v1/responses/a/b", standard],
    ["GET", "/v1/thumbs/nothing", standard],
    ["GET", "/vendorb/nothing", messageStyle],
    ["POST", "/anthropic/v1/nothing", messageStyle],
    ["POST", "/v1/messages/nothing", messageStyle],
    ["POST", "/messages/nothing", messageStyle],
    ["GET", "/v1beta/nothing", contentStyle],
    ["POST", "/v1beta/models/m:nothing", contentStyle],
    ["POST", "/v1/models/m:nothing", contentStyle],
    ["GET", "/api/nothing", runner],
    ["GET", "/admin/nothing", administration],
    ["GET", "/console/nothing.js", standard],
  ])("%s %s", async (method, path, shape) => {
    const gateway = await createGateway(WITH_ADMIN);
    await expectError(await gateway.request(path, { method }), 404, "not_found", shape);
  });

  test("also where the console's page has not been built", async () => {
    const gateway = await createGateway(WITH_ADMIN);
    await expectError(await gateway.request("/admin"), 404, "not_found", administration);
  });

  test("also with a broken escape in it", async () => {
    const gateway = await createGateway();
    await expectError(await gateway.request("/v1/responses/%zz"), 404, "not_found", standard);
  });
});

describe("a method that a path does not have is a 405 that names those it has", () => {
  test.each<[string, string, string, Shape]>([
    ["GET", "/v1/chat/completions", "POST, OPTIONS", standard],
    ["POST", "/v1/models", "GET, HEAD, OPTIONS", standard],
    ["PATCH", "/v1/files/x", "GET, HEAD, DELETE, OPTIONS", standard],
    ["DELETE", "/vendorb/v1/messages", "POST, OPTIONS", messageStyle],
    ["DELETE", "/v1beta/models", "GET, HEAD, OPTIONS", contentStyle],
    ["PUT", "/api/chat", "POST, OPTIONS", runner],
    ["PATCH", "/admin/settings", "GET, HEAD, PUT, OPTIONS", administration],
  ])("%s %s", async (method, path, allow, shape) => {
    const gateway = await createGateway(WITH_ADMIN);
    const response = await gateway.request(path, { method });
    expect(response.headers.get("allow")).toBe(allow);
    await expectError(response, 405, "method_not_allowed", shape);
  });
});

describe("a request without a credential is a 401 in the shape of its family", () => {
  test.each<[string, Shape]>([
    ["/v1/chat/completions", standard],
    ["/v1/embeddings", standard],
    ["/vendorb/v1/messages", messageStyle],
    ["/v1beta/models/m:generateContent", contentStyle],
    ["/v1/models/m:generateContent", contentStyle],
    ["/api/chat", runner],
    ["/admin/keys", administration],
  ])("%s", async (path, shape) => {
    const gateway = await createGateway(WITH_ADMIN);
    await expectError(await gateway.request(path, { method: "POST" }), 401, "invalid_api_key", shape);
  });
});

describe("a body that is not JSON is a 400 in the shape of its family", () => {
  test.each<[string, Shape]>([
    ["/v1/chat/completions", standard],
    ["/vendorb/v1/messages", messageStyle],
    ["/v1beta/models/provider-v4-flash:generateContent", contentStyle],
    ["/api/chat", runner],
  ])("%s", async (path, shape) => {
    const gateway = await createGateway();
    const init = { method: "POST", headers: { authorization: `Bearer ${KEY}` }, body: "{" };
    await expectError(await gateway.request(path, init), 400, "invalid json", shape);
  });
});

describe("an unexpected failure", () => {
  /** Something breaks within the program. */
  async function broken(): Promise<MemoryGateway> {
    const gateway = await createGateway(WITH_ADMIN);
    vi.spyOn(gateway.platform, "files").mockImplementation(() => {
      throw new Error("the disk of server-7 is full");
    });
    return gateway;
  }
  const init = { headers: { authorization: `Bearer ${KEY}`, "x-request-id": "mine-1" } };

  test("is a 500 with the request id and no internal details", async () => {
    const gateway = await broken();
    const response = await gateway.request("/v1/files/x", init);
    expect(response.status).toBe(500);
    expect(response.headers.get("x-request-id")).toBe("mine-1");
    const error = { type: "server_error", code: "internal_error", param: null };
    expect(await response.json()).toEqual({
      error: { message: "internal error (request mine-1)", ...error },
    });
  });

  test("is logged with its cause", async () => {
    const gateway = await broken();
    await gateway.request("/v1/files/x", init);
    expect(gateway.lines).toMatchObject([
      { status: 500, error: "internal_error", cause: "Error: the disk of server-7 is full" },
    ]);
  });

  test("of the provider is logged without its message, which may quote the conversation", async () => {
    const gateway = await createGateway({
      turns: [{ status: 500, json: { error: { code: "oops", message: "I cannot parse: my secret is 42" } } }],
    });
    const body = { model: "provider-v4-flash", messages: [{ role: "user", content: "my secret is 42" }] };
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(503);
    expect(gateway.lines).toMatchObject([{ status: 503, cause: "ProviderError: server_error 500" }]);
    expect(JSON.stringify(gateway.lines)).not.toContain("secret");
  });
});
