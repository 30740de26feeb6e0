import { expect, it } from "vitest";
import { guardrailSchema } from "../../../../src/core/config/guardrails.ts";
import type { Message } from "../../../../src/core/conversation/conversation.ts";
import { maskConversation } from "../../../../src/gateway/guardrails/check-conversation.ts";
import { TextChecker } from "../../../../src/gateway/guardrails/text-checker.ts";
import { conversation } from "../../../support/conversations.ts";

const expressions = [{ pattern: "apollo", action: "mask" }];
const rule = guardrailSchema.parse({ id: "rule", type: "expressions", expressions });
const callWith = (id: string): Message => ({
  role: "assistant",
  parts: [],
  toolCalls: [{ id, name: "find", arguments: "{}" }],
});
const resultOf = (callId: string): Message => ({ role: "tool", callId, parts: [] });

it("denies ids of calls that match: they reach the provider", async () => {
  const check = (...messages: Message[]) =>
    maskConversation(conversation({ messages }), new TextChecker([rule]));
  const denied = { code: "content_filter" };
  await expect(check(callWith("the apollo file"), resultOf("call_1"))).rejects.toMatchObject(denied);
  await expect(check(callWith("call_1"), resultOf("the apollo file"))).rejects.toMatchObject(denied);
  expect((await check(callWith("call_1"), resultOf("call_1"))).messages).toHaveLength(2);
});
