import { errorObject } from "../../core/routing/error-formats.ts";
import type { LazyRouteGroup, RouteFamily } from "../../core/routing/route-group.ts";
import { toErrorCode } from "./error-codes.ts";

/** Errors as JSON-RPC 2.0 has them. The request's id is unknown until its body was read. */
const MCP_FAMILY: RouteFamily = {
  id: "mcp",
  formatError: (error) => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: toErrorCode(error), message: error.message, data: errorObject(error) },
  }),
  errorSchema: {
    type: "object",
    properties: {
      jsonrpc: { const: "2.0" },
      id: { type: "null" },
      error: {
        type: "object",
        properties: { code: { type: "integer" }, message: { type: "string" }, data: { type: "object" } },
        required: ["code", "message"],
      },
    },
    required: ["jsonrpc", "id", "error"],
  },
};

/** The gateway's operations as tools for agents (Model Context Protocol). */
export const MCP_GROUP: LazyRouteGroup = {
  tag: "Model Context Protocol",
  family: MCP_FAMILY,
  paths: ["/mcp"],
  requestHeaders: ["Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Last-Event-ID"],
  load: async () => [(await import("./endpoint.ts")).mcpEndpoint],
};
