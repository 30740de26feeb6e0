import { isObject } from "../encoding/json.ts";
import type { CacheBreakpoint } from "./cache-breakpoint.ts";

/** A JSON Schema object as sent in the request. */
export interface JsonSchema {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly default?: unknown;
  readonly examples?: unknown;
  readonly minimum?: unknown;
  readonly items?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly [keyword: string]: unknown;
}

/** One tool that the caller offers to the model. */
export interface ToolDefinition {
  name: string;
  description?: string;
  /** JSON Schema of the arguments object. */
  parameters?: JsonSchema;
  strict?: boolean;
  /** A cache breakpoint after the tool. */
  cache?: CacheBreakpoint;
}

/** Which tools the model may or must call. */
export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "function"; name: string };

/** The declared properties of a tool's arguments: name to schema. Empty when the tool declares none. */
export function declaredProperties(tool: ToolDefinition | undefined): ReadonlyMap<string, JsonSchema> {
  const properties = tool?.parameters?.properties;
  const declared = new Map<string, JsonSchema>();
  if (!isObject(properties)) return declared;
  for (const [name, schema] of Object.entries(properties)) if (isObject(schema)) declared.set(name, schema);
  return declared;
}
