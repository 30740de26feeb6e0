import { isObject, type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { getMemberText, removeMember, setMember } from "../../../core/encoding/json-splice.ts";
import type { NativeJob } from "../../generation/native/native-style.ts";
import type { NativeDialect } from "../shared/native-request.ts";
import { OPENAI_ANSWER_HEADERS, OPENAI_REQUEST_HEADERS } from "../shared/openai-headers.ts";
import { parseItemId } from "./ids.ts";
import { DIALECT_ID } from "./names.ts";
import { getStoredInput, getStoredOutput } from "./references.ts";
import type { ResponsesInput } from "./responses-input.ts";

const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** Requests for responses, for providers that speak this style. */
export const nativeResponses: NativeDialect = {
  id: DIALECT_ID,
  contentMember: "input",
  modelPaths: [["response", "model"], ["model"]],
  echoedModel: ({ id }) => id,
  otherModelMembers: ["models", "fallbacks", "route", "preset", "prompt"],
  reasoningMembers: [["reasoning"], ["reasoning_effort"], ["thinking"]],
  maxTokensMembers: [["max_output_tokens"]],
  requestHeaders: OPENAI_REQUEST_HEADERS,
  answerHeaders: OPENAI_ANSWER_HEADERS,
  canContinueStream: false,
  listAccountStates: ({ conversation, tools, input }) => [
    isObject(conversation) ? conversation["id"] : conversation,
    ...[tools, input].flatMap((list) => (Array.isArray(list) ? list.flatMap(listContainers) : [])),
  ],
};

/** Ids of the containers that a tool or an item names. */
function listContainers(value: unknown): unknown[] {
  if (!isObject(value)) return [];
  const { container, container_id, environment } = value;
  return [container, container_id, isObject(environment) ? environment["container_id"] : null];
}

/** Removes ids that the gateway made up. The provider cannot read reasoning and web searches under such an id. */
function toProviderItem(item: unknown): unknown[] {
  if (typeof item === "string") return [{ role: "user", content: item }];
  if (!isObject(item)) return [item];
  const { id, ...rest } = item;
  if (typeof id !== "string" || parseItemId(id) === null) return [item];
  return item["type"] === "reasoning" || item["type"] === "web_search_call" ? [] : [rest];
}

/**
 * Replaces the references of a request by what the gateway has stored: the provider's own store is not used, because the
 * next request may go to another account. The encrypted reasoning therefore travels with the items.
 *
 * @param ownItems the request's own items before their references were resolved
 * @param isOnConnection the request came over a WebSocket, which keeps responses although they are not stored
 */
export function withStoredItems(
  native: NativeJob,
  { previous, items }: ResponsesInput,
  ownItems: readonly unknown[],
  isOnConnection: boolean,
): NativeJob {
  let { text } = native.request;
  const isResolved =
    items.length !== ownItems.length || items.some((item, index) => item !== ownItems[index]);
  const hasUnreadable = items.some((item) => toProviderItem(item).length === 0);
  if (previous !== null || isResolved || hasUnreadable) {
    const stored = previous === null ? [] : [...getStoredInput(previous), ...getStoredOutput(previous)];
    text = setMember(text, "input", JSON.stringify([...stored, ...items].flatMap(toProviderItem)));
    text = removeMember(removeMember(text, "previous_response_id"), "messages");
  }
  const isStored = getMemberText(text, ["store"]) !== "false";
  if (isStored || isOnConnection) {
    const included: unknown = JSON.parse(getMemberText(text, ["include"]) ?? "[]");
    const include: unknown[] = Array.isArray(included) ? included : [];
    if (!include.includes(ENCRYPTED_REASONING))
      text = setMember(text, "include", JSON.stringify([...include, ENCRYPTED_REASONING]));
    if (isStored) text = setMember(text, "store", "false");
  }
  return { ...native, request: { ...native.request, text } };
}

/** The response object in the last events of a native stream, or in a whole answer. Null: there is none. */
export function readNativeResponse(last: Uint8Array): JsonObject | null {
  const text = new TextDecoder().decode(last).trim();
  if (text.startsWith("{")) return asResponse(parseObject(text));
  for (const line of text.split(/[\r\n]+/).toReversed()) {
    if (!line.startsWith("data:")) continue;
    const { response } = parseObject(line.slice("data:".length));
    if (isObject(response)) return asResponse(response);
  }
  return null;
}

function asResponse(response: JsonObject): JsonObject | null {
  return typeof response["id"] === "string" && response["id"] !== "" ? response : null;
}
