import { beforeEach, describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

const createGateway = useMemoryGateway();

const OTHER_KEY = "sk-other";
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const callOf = (name: string, input: object = {}) => ({
  ...{ jsonrpc: "2.0", id: 2, method: "tools/call" },
  params: { name, arguments: input },
});

describe("POST /mcp", () => {
  let gateway: MemoryGateway;
  beforeEach(async () => {
    gateway = await createGateway({
      config: { keys: [KEY, OTHER_KEY], callers: { unknown_keys: "refuse" } },
    });
  });

  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}, method = "POST") =>
    gateway.request("/mcp", {
      method,
      headers: {
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
    });

  /** Sends a message. Returns the answer's result, or its error. */
  async function ask(message: object, headers: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
    const text = await (await send(message, headers)).text();
    const answer: JsonObject = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    const { result, error } = answer;
    return isObject(result) ? result : isObject(error) ? error : {};
  }

  test("lists the tools with the schemas of their arguments, all of which only read", async () => {
    const { tools } = await ask(LIST);
    expect(tools).toMatchObject(
      [
        "list_models",
        "get_key_usage",
        "capture_page",
        "detect_technologies",
        "read_metadata",
        "read_page",
      ].map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })),
    );
  });

  test("calls operations with the caller's own key", async () => {
    const models: unknown = JSON.parse(await (await gateway.request("/v1/models")).text());
    expect(await ask(callOf("list_models"))).toMatchObject({ structuredContent: models });
    const usage = await ask(callOf("get_key_usage"), { authorization: `Bearer ${OTHER_KEY}` });
    expect(usage).toMatchObject({ structuredContent: { object: "key" } });
    expect(JSON.stringify(usage)).not.toContain(OTHER_KEY);
  });

  test.each([
    ["an address that is not allowed", "read_metadata", { url: "http://10.0.0.1/" }, /^url_\w+: /],
    ["what the service lacks", "capture_page", { url: "https://example.com" }, /^\w+: .*browser/i],
    [
      "an argument that there is none",
      "capture_page",
      { url: "https://example.com", colour: "red" },
      /colour/,
    ],
  ])("tells the agent why an operation failed: %s", async (_, name, input, expected) => {
    expect(await ask(callOf(name, input))).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(expected) }],
    });
  });

  test("refuses unknown tools", async () => {
    expect(await ask(callOf("no_such_tool"))).toMatchObject({ code: -32602 });
  });

  test("requires a valid key, with an error in JSON-RPC", async () => {
    const response = await send(LIST, { authorization: "Bearer sk-unknown" });
    const error = { code: -32000, data: { code: "invalid_api_key", type: "authentication_error" } };
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      401,
      { jsonrpc: "2.0", id: null, error },
    ]);
  });

  test.each(["GET", "DELETE"])("answers %s with 405, because there are no sessions", async (method) => {
    const response = await send(undefined, { accept: "text/event-stream" }, method);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(JSON.parse(await response.text())).toMatchObject({ id: null, error: { code: -32000 } });
  });

  test.each([
    ["https://evil.example", 403],
    ["null", 403],
    ["http://localhost.evil.example:6274", 403],
    ["http://gateway.test", 200],
    ["http://localhost:6274", 200],
    ["http://127.0.0.1:6274", 200],
    ["http://[::1]:6274", 200],
  ])("answers a page of the origin %s with %i", async (origin, status) => {
    const response = await send(LIST, { origin });
    expect(response.status).toBe(status);
    await response.text();
  });

  test.each([
    ["text that is no JSON", "{", 400, -32700],
    ["a batch", [LIST, LIST], 400, -32600],
    ["something that is no message", { hello: "world" }, 400, -32600],
    ["a body that is too large", { ...LIST, params: { text: "x".repeat(300_000) } }, 413, -32600],
  ])("refuses %s", async (_, body, status, code) => {
    const response = await send(body);
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([status, { error: { code } }]);
  });

  test("accepts a notification with 202", async () => {
    const response = await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });
});
