import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/server/validators/cf-worker";
import * as z from "zod";
import type { Caller } from "../../core/auth/callers.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { once } from "../../core/encoding/once.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { rawBodyEndpoint } from "../../core/routing/endpoint.ts";
import { VERSION } from "../../core/version.ts";
import { callTool } from "./call-tool.ts";
import { getTools } from "./tools.ts";

const getValidator = once(() => new CfWorkerJsonSchemaValidator());

/** A server for one request: nothing is stored between requests. */
function createServer(context: Context, caller: Caller): McpServer {
  const server = new McpServer(
    { name: "polygate", title: "Polygate", version: VERSION },
    { capabilities: { tools: {} }, jsonSchemaValidator: getValidator() },
  );
  for (const tool of getTools()) {
    const { name, title, description, input } = tool;
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations: { readOnlyHint: true } },
      (parameters, { mcpReq: { signal } }) => callTool(context, caller, tool, parameters, signal),
    );
  }
  return server;
}

/**
 * Rejects pages of other origins, as the specification asks (transports, security warning). Pages of this machine may call:
 * they are tools of developers.
 *
 * @throws GatewayError 403
 */
function assertOwnOrigin({ request, url }: Context): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  const { host, hostname } = URL.parse(origin) ?? {};
  if (host !== undefined && host === (request.headers.get("host") ?? url.host)) return;
  if (hostname !== undefined && OWN_MACHINE.includes(hostname)) return;
  throw new GatewayError(403, "pages of other origins may not call this endpoint", {
    code: "permission_denied",
  });
}

/** Names of this machine, as `URL` has them. */
const OWN_MACHINE = ["localhost", "127.0.0.1", "[::1]"];

/** Messages are small: arguments of a tool. */
const MAX_BODY = 256 * 1024;

const messageSchema = lazyLooseObject(() => ({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.int()]).optional(),
}));

/** `POST /mcp`: one JSON-RPC message (Model Context Protocol, streamable HTTP, stateless). */
export const mcpEndpoint = rawBodyEndpoint({
  method: "POST",
  path: "/mcp",
  summary: "Call the gateway's operations as tools (Model Context Protocol)",
  body: messageSchema,
  maxBody: MAX_BODY,
  answers: () => ({ "application/json": messageSchema, "text/event-stream": { type: "string" } }),
  statuses: {
    202: "A notification was received.",
    403: "The page that sends the request has another origin.",
  },
  handler: async (context, { caller, body: { value } }) => {
    assertOwnOrigin(context);
    // Protocol revisions since 2025-06-18 have no batches. One would multiply what a request may cost.
    if (Array.isArray(value)) throw invalidRequest("send one JSON-RPC message, not a batch");
    const { request } = context;
    const handler = createMcpHandler(() => createServer(context, caller), { maxSubscriptions: 0 });
    return handler.fetch(request, { parsedBody: value });
  },
});
