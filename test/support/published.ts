import { dereference } from "@cfworker/json-schema";
import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import anthropic from "../fixtures/published/anthropic.json" with { type: "json" };
import google from "../fixtures/published/google.json" with { type: "json" };
import ollama from "../fixtures/published/ollama.json" with { type: "json" };
import openai from "../fixtures/published/openai.json" with { type: "json" };
import { SchemaCheck, type SchemaLookup } from "./schema-faults.ts";

/** A vendor's published API schemas, reduced to what this program writes. */
interface Publication {
  readonly vendor: string;
  /** Schema names of a stream's events, by their `type`. */
  readonly events: ReadonlyMap<string, string>;
  readonly definitions: Readonly<Record<string, unknown>>;
  /** Schemas of 200 responses: the first pattern that matches `POST /path` applies. */
  readonly bodies: readonly (readonly [RegExp, string])[];
}

const OPENAI: Publication = {
  vendor: "OpenAI",
  events: new Map(Object.entries(openai.events)),
  definitions: openai.$defs,
  bodies: [
    [/^POST (\/v1)?\/chat\/completions$/, "ChatCompletion"],
    [/^POST (\/v1)?\/responses\/input_tokens$/, "InputTokenCountResponse"],
    [/^GET (\/v1)?\/responses\/[^/]+\/input_items$/, "ResponseItemList"],
    [/^(POST (\/v1)?\/responses(\/[^/]+\/cancel)?|GET (\/v1)?\/responses\/[^/]+)$/, "Response"],
  ],
};

const OLLAMA: Publication = {
  vendor: "Ollama",
  events: new Map(),
  definitions: ollama.$defs,
  bodies: [
    [/^POST \/api\/chat$/, "ChatResponse"],
    [/^POST \/api\/generate$/, "GenerateResponse"],
    [/^GET \/api\/(tags|ps)$/, "ListResponse"],
    [/^POST \/api\/show$/, "ShowResponse"],
    [/^GET \/api\/version$/, "VersionResponse"],
    [/^POST \/api\/embed$/, "EmbedResponse"],
    [/^POST \/api\/embeddings$/, "EmbeddingsResponse"],
  ],
};

const ANTHROPIC: Publication = {
  vendor: "Anthropic",
  events: new Map([...Object.entries(anthropic.events), ["error", "ErrorResponse"]]),
  definitions: anthropic.$defs,
  bodies: [
    [/^POST .*\/messages$/, "Message"],
    [/^POST .*\/messages\/count_tokens$/, "MessageTokensCount"],
    [/^GET .*\/v1\/models$/, "ModelInfosPage"],
    [/^GET .*\/v1\/models\/./, "ModelInfo"],
    [/^GET .*\/v1\/files$/, "FileMetadataPage"],
    [/^(POST .*\/v1\/files|GET .*\/v1\/files\/[^/]+)$/, "FileMetadata"],
    [/^DELETE .*\/v1\/files\/[^/]+$/, "DeletedFile"],
  ],
};

const GOOGLE: Publication = {
  vendor: "Google",
  events: new Map(),
  definitions: google.$defs,
  bodies: [
    [/^POST .*:generateContent$/, "GenerateContentResponse"],
    [/^POST .*:countTokens$/, "CountTokensResponse"],
    [/^POST .*:embedContent$/, "EmbedContentResponse"],
    [/^POST .*:batchEmbedContents$/, "BatchEmbedContentsResponse"],
    [/^GET \/v1(beta)?\/models$/, "ListModelsResponse"],
    [/^GET \/v1(beta)?\/models\/./, "Model"],
    [/^GET \/v1(beta)?\/files$/, "ListFilesResponse"],
    [/^GET \/v1(beta)?\/files\/./, "File"],
    [/^POST \/upload\/v1(beta)?\/files$/, "CreateFileResponse"],
  ],
};

/** The vendors' publications, by the id of the family with the vendor's style. */
const PUBLICATIONS = new Map([
  ["chat", OPENAI],
  ["messages", ANTHROPIC],
  ["content", GOOGLE],
  ["runner", OLLAMA],
]);

const lookups = new Map<Publication, SchemaLookup>();

/** The schemas of a publication by their addresses, which `dereference` adds to the schemas. */
function lookupOf(publication: Publication): SchemaLookup {
  const known = lookups.get(publication) ?? dereference({ $defs: publication.definitions });
  lookups.set(publication, known);
  return known;
}

function faultOf(publication: Publication, name: string, body: unknown): string | undefined {
  const lookup = lookupOf(publication);
  const schema = publication.definitions[name];
  if (!isObject(schema)) throw new Error(`${publication.vendor}'s ${name} is not among the schemas.`);
  const fault = new SchemaCheck(schema, lookup).findFault(body);
  return fault === undefined ? undefined : `not ${publication.vendor}'s ${name}: ${fault}`;
}

/** Location where a JSON response violates the vendor's schema for the path; undefined if it is valid or has no schema. */
export function publishedFault(
  family: string,
  route: { method: string; path: string; ok: boolean },
  body: unknown,
): string | undefined {
  const publication = PUBLICATIONS.get(family);
  if (publication === undefined) return undefined;
  if (!route.ok) return faultOf(publication, "ErrorResponse", body);
  const found = publication.bodies.find(([pattern]) => pattern.test(`${route.method} ${route.path}`));
  return found === undefined ? undefined : faultOf(publication, found[1], body);
}

function check(publication: Publication, name: string, value: JsonObject): void {
  const fault = faultOf(publication, name, value);
  if (fault !== undefined) throw new Error(fault);
}

function checkEvent(publication: Publication, event: JsonObject): void {
  const type = String(event["type"]);
  const name = publication.events.get(type);
  if (name === undefined) throw new Error(`${type} is no event that ${publication.vendor} publishes.`);
  check(publication, name, event);
}

/**
 * Checks an event of a message stream (except pings) against the published schema of its type.
 *
 * @throws Error that names the location in the event.
 */
export function checkPublishedMessageEvent(event: JsonObject): void {
  checkEvent(ANTHROPIC, event);
}

/**
 * Checks a whole message against the published schema.
 *
 * @throws Error that names the location in the message.
 */
export function checkPublishedMessage(message: JsonObject): void {
  check(ANTHROPIC, "Message", message);
}

/**
 * Checks a content-generation response, a chunk of one, or an error against the published schema.
 *
 * @throws Error that names the location in the chunk.
 */
export function checkPublishedContent(chunk: JsonObject): void {
  check(GOOGLE, "error" in chunk ? "ErrorResponse" : "GenerateContentResponse", chunk);
}

/**
 * Checks an event of a responses stream against the published schema of its type.
 *
 * @throws Error that names the location in the event.
 */
export function checkPublishedEvent(event: JsonObject): void {
  checkEvent(OPENAI, event);
}

/**
 * Checks a chunk of a chat-completions stream against the published schema.
 *
 * @throws Error that names the location in the chunk.
 */
export function checkPublishedChunk(chunk: JsonObject): void {
  check(OPENAI, "ChatCompletionChunk", chunk);
}

/**
 * Checks a line of a local-runner stream, or a body of that style, against the published schema.
 *
 * @throws Error that names the location in the line.
 */
export function checkPublishedLine(line: JsonObject): void {
  const answered = "message" in line ? "ChatResponse" : "GenerateResponse";
  check(OLLAMA, "error" in line ? "ErrorResponse" : answered, line);
}
