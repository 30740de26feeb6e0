import type { Conversation } from "../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { isUnambiguousJson } from "../../core/encoding/json-exactness.ts";
import type { GenerationRequest } from "../generation/generation-job.ts";
import type { CacheableInput } from "./answer-through-cache.ts";

/**
 * Members of a body that continue or create state, or let the provider look something up: the same request can later
 * have another answer.
 */
const CHANGING_MEMBERS = [
  "background",
  "previous_response_id",
  "conversation",
  "container",
  "cachedContent",
  "cached_content",
  "mcp_servers",
  "web_search_options",
  "search_parameters",
  "plugins",
];

/** Members anywhere in a body that name a file by its id or address at the gateway or at the provider. */
const FILE_MEMBERS = new Set(["file_id", "fileId", "file_uri", "fileUri"]);

/** Members of a tool that lists functions of the caller in the content-generation style. */
const FUNCTION_LISTS = new Set(["functionDeclarations", "function_declarations"]);

/** Whether a request names its account, or the operator forbids to store its texts or a part of them. */
export function isPinnedOrPrivate({
  context,
  caller,
}: Pick<GenerationRequest, "context" | "caller">): boolean {
  return context.facts.history !== undefined || caller.targetAccount !== null;
}

/** Whether the same request would have the same answer later, and its answer may be stored. */
export function isCacheable(request: GenerationRequest, { body, isStored }: CacheableInput): boolean {
  const { conversation, native } = request;
  if (isStored === true || isPinnedOrPrivate(request)) return false;
  if (native !== undefined && native.accountStateIds.length > 0) return false;
  if (conversation.webSearch !== undefined || conversation.model.search || namesFile(conversation))
    return false;
  if (!isObject(body) || hasSeveralAnswers(body) || hasChangingMember(body) || containsFileReference(body))
    return false;
  // Parsed bodies are compared, but such a provider reads the text itself.
  return native === undefined || isUnambiguousJson(native.request.text);
}

function namesFile({ messages }: Conversation): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.type !== "text" && part.source.kind === "file"),
  );
}

/** Whether the answer may have several choices. The reason why one of them ended says nothing of the others. */
function hasSeveralAnswers({ n, best_of, prompt, generationConfig, generation_config }: JsonObject): boolean {
  // A list of numbers is one prompt: its tokens.
  if (Array.isArray(prompt) && prompt.length > 1 && typeof prompt[0] !== "number") return true;
  const counts = [generationConfig, generation_config]
    .filter(isObject)
    .flatMap(({ candidateCount, candidate_count }) => [candidateCount, candidate_count]);
  return [n, best_of, ...counts].some((count) => (count ?? 1) !== 1);
}

function hasChangingMember(body: JsonObject): boolean {
  const { store, prompt, tools } = body;
  if (store === true || isObject(prompt)) return true;
  if (CHANGING_MEMBERS.some((name) => (body[name] ?? false) !== false)) return true;
  return Array.isArray(tools) && !tools.every(isCallersTool);
}

/** Whether the caller runs a tool. The results of all others change with time. */
function isCallersTool(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  const { type, name } = tool;
  if (type !== undefined && type !== null) return type === "function" || type === "custom";
  return typeof name === "string" || Object.keys(tool).every((member) => FUNCTION_LISTS.has(member));
}

/** Whether a body names a file that the gateway or the provider has. */
export function containsFileReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsFileReference);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, member]) =>
      (FILE_MEMBERS.has(name) && typeof member === "string") || containsFileReference(member),
  );
}
