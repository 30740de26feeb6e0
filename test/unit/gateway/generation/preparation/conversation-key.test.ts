import { describe, expect, test } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import {
  findSessionId,
  identifyTurn,
} from "../../../../../src/gateway/generation/preparation/conversation-key.ts";
import { type ConversationChanges, conversation } from "../../../../support/conversations.ts";

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const system = (text: string): Message => ({ role: "system", parts: [{ type: "text", text }] });
const assistant = (text: string): Message => ({
  role: "assistant",
  parts: [{ type: "text", text }],
  toolCalls: [],
});

function keyOf(
  messages: readonly Message[],
  more: ConversationChanges = {},
  headers: Record<string, string> = {},
  owner = "caller",
): string {
  return identifyTurn(owner, new Headers(headers), conversation({ messages, stream: false, ...more })).key;
}

describe("the key of a conversation", () => {
  const first = [system("Be brief."), user("Hello")];

  test("is the same in all turns", () => {
    expect(keyOf([...first, assistant("Hi"), user("And?")])).toBe(keyOf(first));
    expect(keyOf(first)).toMatch(/^[\da-f]{16}$/);
  });

  test.each([
    ["caller", () => keyOf(first, {}, {}, "other")],
    ["model", () => keyOf(first, { model: "gpt-4o" })],
    ["system prompt", () => keyOf([system("Be long."), user("Hello")])],
    ["first message", () => keyOf([system("Be brief."), user("Goodbye")])],
    ["tools", () => keyOf(first, { tools: [{ name: "search" }] })],
    ["session", () => keyOf(first, { sessionId: "s" })],
  ])("differs with the %s", (_, other) => {
    expect(other()).not.toBe(keyOf(first));
  });

  test("differs between messages that are only an attachment", () => {
    const image = (url: string): Message => ({
      role: "user",
      parts: [{ type: "image", source: { kind: "url", url } }],
    });
    expect(keyOf([image("https://a.example/1")])).not.toBe(keyOf([image("https://a.example/2")]));
  });

  test.each(["x-claude-code-session-id", "session_id", "session-id", "x-session-id", "x-session-affinity"])(
    "is the session of the header %s, for any messages",
    (name) => {
      const headers = { [name]: "one" };
      expect(keyOf([user("b")], { sessionId: "body" }, headers)).toBe(keyOf([user("a")], {}, headers));
      expect(keyOf([user("a")], {}, { [name]: "two" })).not.toBe(keyOf([user("a")], {}, headers));
      expect(keyOf([user("a")], {}, headers, "other")).not.toBe(keyOf([user("a")], {}, headers));
    },
  );

  test("ignores a request id that some clients renew with each request", () => {
    expect(keyOf(first, {}, { "x-client-request-id": "one" })).toBe(keyOf(first));
  });
});

describe("the session that a body names", () => {
  const uuid = "0b6f7c9e-6a1f-4f4e-9b57-0f6a3a0e8d11";
  test.each([
    [{ metadata: { user_id: JSON.stringify({ device_id: "d", session_id: uuid }) } }, uuid],
    [{ metadata: { user_id: `user_0a1b_account__session_${uuid}` } }, uuid],
    [{ session_id: "s", prompt_cache_key: "p" }, "s"],
    [{ prompt_cache_key: "p", conversation: "c" }, "p"],
    [{ conversation: { id: "c" } }, "c"],
    [{ conversation: "c" }, "c"],
  ])("%j", (body, session) => {
    expect(findSessionId(body)).toBe(session);
  });

  test.each([
    [{}],
    [{ metadata: { user_id: "user_0a1b" } }],
    [{ metadata: { user_id: "{broken" } }],
    [{ metadata: { user_id: '{"device_id":"d"}' } }],
    [{ session_id: "", prompt_cache_key: 7, conversation: null }],
  ])("is ignored if invalid: %j", (body) => {
    expect(findSessionId(body)).toBeUndefined();
  });
});

test("a turn continues a conversation if the model has answered before", () => {
  const turn = (messages: readonly Message[], more: ConversationChanges = {}) =>
    identifyTurn("caller", new Headers(), conversation({ messages, stream: false, ...more })).isContinued;
  expect(turn([system("s"), user("a"), user("b")])).toBe(false);
  expect(turn([user("a"), assistant("b"), user("c")])).toBe(true);
  expect(turn([user("[raw]")], { hasAssistantTurn: true })).toBe(true);
});
