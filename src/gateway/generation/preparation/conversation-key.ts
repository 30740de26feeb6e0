import {
  type Conversation,
  joinText,
  type Message,
  type Part,
} from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { hashText } from "../../../core/encoding/text-hash.ts";

/** Headers in which clients name their session, the most specific one first. */
const SESSION_HEADERS = [
  "x-claude-code-session-id",
  "session-id",
  "session_id",
  "x-session-id",
  "x-session-affinity",
];

/** The session in `metadata.user_id` of clients that do not write it as JSON. */
const SESSION_IN_USER_ID = /_session_([\w-]{8,64})/;

/** Longest part of each text that counts, in UTF-16 code units: conversations with equal openings share a cached prompt. */
const MAX_HASHED_CHARS = 4_096;
/** Basis of the second half of a key. */
const SECOND_BASIS = 0x9e3779b9;

/** The facts of a request that decide which account gets it. */
export interface ConversationTurn {
  /** Names the conversation: the same in all its turns, different for other callers. 16 hexadecimal digits. */
  readonly key: string;
  /** Whether the model has answered before, so that its provider may have the prompt in a cache. */
  readonly isContinued: boolean;
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The session within a user id: JSON with `session_id`, or `…_session_<id>`. Undefined: it names only a user. */
function findSessionInUserId(userId: unknown): string | undefined {
  const text = readText(userId);
  if (text === undefined) return undefined;
  return text.startsWith("{")
    ? readText(parseObject(text)["session_id"])
    : SESSION_IN_USER_ID.exec(text)?.[1];
}

/** The session or cache key that a request's body names. Undefined: it names none. */
export function findSessionId(body: JsonObject): string | undefined {
  const { metadata, conversation } = body;
  return (
    findSessionInUserId(isObject(metadata) ? metadata["user_id"] : undefined) ??
    readText(body["session_id"]) ??
    readText(body["prompt_cache_key"]) ??
    readText(isObject(conversation) ? conversation["id"] : conversation)
  );
}

/** The key of a conversation and whether this is its first turn. */
export function identifyTurn(owner: string, headers: Headers, conversation: Conversation): ConversationTurn {
  const { messages, hasAssistantTurn } = conversation;
  const text = JSON.stringify([
    owner,
    ...(findSession(headers, conversation) ?? describeOpening(conversation)),
  ]);
  return {
    key: toHex32(hashText(text)) + toHex32(hashText(text, SECOND_BASIS)),
    isContinued: hasAssistantTurn ?? messages.some(({ role }) => role === "assistant"),
  };
}

function findSession(headers: Headers, { sessionId }: Conversation): readonly string[] | null {
  for (const name of SESSION_HEADERS) {
    const value = headers.get(name);
    if (value) return [value];
  }
  return sessionId === undefined ? null : [sessionId];
}

/** What stays the same from a conversation's first turn on: model, system prompt, tools and first message. */
function describeOpening({ model, messages, tools }: Conversation): readonly string[] {
  const describeFirst = (role: Message["role"]) => {
    const message = messages.find((candidate) => candidate.role === role);
    return message === undefined ? "" : describeParts(message.parts);
  };
  const toolNames = tools.map(({ name }) => name).join();
  return [
    model.requested,
    describeFirst("system"),
    describeFirst("user"),
    toolNames.slice(0, MAX_HASHED_CHARS),
  ];
}

function describeParts(parts: readonly Part[]): string {
  const text = joinText(parts).slice(0, MAX_HASHED_CHARS);
  const [attachment] = parts.flatMap((part) => (part.type === "text" ? [] : [part.source]));
  return attachment === undefined ? text : text + JSON.stringify(attachment).slice(0, MAX_HASHED_CHARS);
}

function toHex32(hash: number): string {
  return hash.toString(16).padStart(8, "0");
}
