import { type Schema, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../../src/encoding/json.ts";
import published from "../fixtures/published/openai.json" with { type: "json" };
import { innermost } from "./schema-faults.ts";

/** The published schemas of whole bodies. */
export type PublishedSchema =
  | "Response"
  | "ResponseItemList"
  | "CompactResource"
  | "TokenCountsResource"
  | "ErrorResponse"
  | "CreateChatCompletionResponse"
  | "CreateChatCompletionStreamResponse";

const EVENTS = new Map(Object.entries(published.events));
const validators = new Map<string, Validator>();

function validatorOf(name: string): Validator {
  const known = validators.get(name);
  if (known !== undefined) return known;
  const schema: Schema = { $ref: `#/$defs/${name}`, $defs: published.$defs };
  const made = new Validator(schema, "2020-12", false);
  validators.set(name, made);
  return made;
}

/** Where a body is not what OpenAI's published schema says; undefined when it is. */
export function publishedFault(name: string, body: unknown): string | undefined {
  const { valid, errors } = validatorOf(name).validate(body);
  return valid ? undefined : `not OpenAI's ${name}: ${innermost(errors)}`;
}

/** The published schema of what a path answers with 200. */
export function publishedSchemaOf(method: string, path: string): PublishedSchema | null {
  const route = `${method} ${path.replace(/^\/v1/, "")}`;
  if (route === "POST /chat/completions") return "CreateChatCompletionResponse";
  if (route === "POST /responses/compact") return "CompactResource";
  if (route === "POST /responses/input_tokens") return "TokenCountsResource";
  if (/^GET \/responses\/[^/]+\/input_items$/.test(route)) return "ResponseItemList";
  if (/^(POST \/responses(\/[^/]+\/cancel)?|GET \/responses\/[^/]+)$/.test(route)) return "Response";
  return null;
}

/**
 * Holds an event of a responses stream to the published schema of its type.
 *
 * @throws Error that names the place in the event.
 */
export function checkPublishedEvent(event: JsonObject): void {
  const type = String(event["type"]);
  const name = EVENTS.get(type);
  if (name === undefined) throw new Error(`${type} is no event that OpenAI publishes.`);
  const fault = publishedFault(name, event);
  if (fault !== undefined) throw new Error(`${type}: ${fault}`);
}

/**
 * Holds a chunk of a chat-completions stream to the published schema.
 *
 * @throws Error that names the place in the chunk.
 */
export function checkPublishedChunk(chunk: JsonObject): void {
  const fault = publishedFault("CreateChatCompletionStreamResponse", chunk);
  if (fault !== undefined) throw new Error(fault);
}
