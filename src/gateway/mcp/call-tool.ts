import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Caller } from "../../core/auth/callers.ts";
import { isObject, type JsonObject, parseObject } from "../../core/encoding/json.ts";
import type { Context } from "../../core/ports/context.ts";
import type { Tool } from "./tools.ts";

/** Calls an operation as a separate request with the caller's credential: it is authorized, limited and logged by itself. */
export async function callTool(
  context: Context,
  { credential }: Caller,
  { path, query = {} }: Tool,
  parameters: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const url = new URL(path, context.url);
  for (const [name, value] of Object.entries({ ...parameters, ...query })) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const headers = { authorization: `Bearer ${credential}`, "x-request-id": context.requestId };
  const response = await context.serveRequest(new Request(url, { headers, signal }));
  const text = await response.text();
  if (!response.ok) return describeFailure(text, response.status);
  if (response.headers.get("content-type")?.startsWith("application/json") !== true) return textResult(text);
  const value = parseObject(text);
  return toImage(value) ?? { ...textResult(text), structuredContent: { ...value } };
}

const textResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A failed operation is a result that the agent can read, not an error of the protocol. */
function describeFailure(text: string, status: number): CallToolResult {
  const { error } = parseObject(text);
  const { code, message } = isObject(error) ? error : {};
  const described = typeof message === "string" ? message : `the operation failed with status ${status}`;
  return {
    ...textResult(typeof code === "string" ? `${code}: ${described}` : described),
    isError: true,
  };
}

/** An image, if the answer is one. */
function toImage({ base64, mime_type: mimeType, ...rest }: JsonObject): CallToolResult | null {
  if (typeof base64 !== "string" || typeof mimeType !== "string") return null;
  return {
    content: [
      { type: "image", data: base64, mimeType },
      { type: "text", text: JSON.stringify(rest) },
    ],
  };
}
