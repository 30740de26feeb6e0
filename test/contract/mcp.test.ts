import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { decode, expectColour, GREEN, html, useSite } from "../support/pages.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

const PAGE = `<title>A green page</title><meta name="generator" content="WordPress 6.4"><meta name="description" content="All is green">
  <style>body { margin: 0; background: green }</style><h1>Green</h1><p>It is <b>green</b>.</p>`;

const pages = useSite((_, response) => html(response, PAGE));

/** Runs work with a connected client of the official SDK. */
async function withClient<T>(
  work: (client: Client) => Promise<T>,
  { key = DEV_KEY, era = "legacy" }: { key?: string; era?: "legacy" | "auto" } = {},
): Promise<T> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: era } });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", pages.gateway.url), { requestInit: { headers } }),
  );
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const send = (body: unknown, headers: Record<string, string> = {}, method = "POST") =>
  pages.gateway.fetch("/mcp", {
    method,
    headers: {
      authorization: `Bearer ${DEV_KEY}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
  });
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const text = (content: readonly unknown[]): string => String(Object(content[0]).text);

describe.each(["legacy", "auto"] as const)("an MCP client (version negotiation: %s)", (era) => {
  it("finds the tools, the models and the usage of its own key", async () => {
    await withClient(
      async (client) => {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual([
          "list_models",
          "get_key_usage",
          "capture_page",
          "detect_technologies",
          "read_metadata",
          "read_page",
        ]);
        const models = await client.callTool({ name: "list_models", arguments: {} });
        expect(models.structuredContent).toEqual(await (await pages.gateway.fetch("/v1/models")).json());
        const usage = await client.callTool({ name: "get_key_usage", arguments: {} });
        expect(usage.structuredContent).toMatchObject({ object: "key", usage: { today: { requests: 0 } } });
        expect(JSON.stringify(usage)).not.toContain(DEV_KEY);
      },
      { era },
    );
  });

  it("reads why an operation failed, and which argument is wrong", async () => {
    await withClient(
      async (client) => {
        const call = (name: string, input: Record<string, unknown>) =>
          client.callTool({ name, arguments: input });
        const failed = await call("read_metadata", { url: "http://10.0.0.1/" });
        expect([failed.isError, text(failed.content)]).toEqual([true, expect.stringMatching(/^\w+: /)]);
        const wrong = await call("capture_page", { url: pages.origin, colour: "red" });
        expect([wrong.isError, text(wrong.content)]).toEqual([true, expect.stringContaining("colour")]);
        await expect(call("no_such_tool", {})).rejects.toMatchObject({ code: -32602 });
      },
      { era },
    );
  });
});

describeWithBrowser("the tools of the page service", () => {
  it("give an image, technologies, metadata and content", async () => {
    await withClient(async (client) => {
      const call = (name: string, input: Record<string, unknown> = {}) =>
        client.callTool({ name, arguments: { url: pages.origin, ...input } });
      const captured = await call("capture_page", { format: "png", width: 320 });
      const [image] = captured.content;
      if (image?.type !== "image") throw new Error(`no image: ${JSON.stringify(captured)}`);
      expect(image.mimeType).toBe("image/png");
      const picture = await decode(new Uint8Array(Buffer.from(image.data, "base64")).buffer);
      expect(picture.width).toBe(320);
      expectColour(picture, 160, picture.height - 5, GREEN);
      expect(JSON.stringify((await call("detect_technologies")).structuredContent)).toContain("WordPress");
      expect(JSON.stringify((await call("read_metadata")).structuredContent)).toContain("All is green");
      expect(text((await call("read_page")).content)).toContain("It is **green**.");
      expect(text((await call("read_page", { format: "text" })).content)).toContain("It is green.");
    });
  });
});

describe("POST /mcp", () => {
  it("requires a valid key, with an error in JSON-RPC", async () => {
    const response = await send(LIST, { authorization: "" });
    const error = { code: -32000, data: { code: "invalid_api_key", type: "authentication_error" } };
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { jsonrpc: "2.0", id: null, error },
    ]);
    await expect(withClient(async (client) => client.listTools(), { key: "" })).rejects.toThrow();
  });

  it("lets a token of the provider list models, but not read the usage of a key", async () => {
    await withClient(
      async (client) => {
        const models = await client.callTool({ name: "list_models", arguments: {} });
        expect(models.structuredContent).toMatchObject({ object: "list" });
        const usage = await client.callTool({ name: "get_key_usage", arguments: {} });
        expect([usage.isError, text(usage.content)]).toEqual([true, expect.stringContaining("not_found")]);
      },
      { key: "token-of-the-provider" },
    );
  });

  it.each(["GET", "DELETE"])("answers %s with 405: there are no sessions", async (method) => {
    const response = await send(undefined, { accept: "text/event-stream" }, method);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
  });

  it("refuses pages of other origins", async () => {
    for (const [origin, status] of [
      ["https://evil.example", 403],
      [pages.gateway.url, 200],
      ["http://localhost:6274", 200],
    ] as const) {
      const response = await send(LIST, { origin });
      expect([origin, response.status]).toEqual([origin, status]);
      if (status === 403) expect(await response.json()).toMatchObject({ error: { code: -32000 } });
      else await response.body?.cancel();
    }
  });

  it.each([
    ["a batch", [LIST, LIST], 400, -32600],
    ["a body that is too large", { ...LIST, params: { text: "x".repeat(300_000) } }, 413, -32600],
  ])("refuses %s", async (_, body, status, code) => {
    const response = await send(body);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
  });

  it("accepts a notification with 202", async () => {
    const response = await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  it("opens no endless streams of subscriptions", async () => {
    const params = {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
      notifications: { toolsListChanged: true },
    };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
    const response = await send({ jsonrpc: "2.0", id: 7, method: "subscriptions/listen", params }, headers);
    expect(await response.text()).toContain("limit reached");
  });
});
