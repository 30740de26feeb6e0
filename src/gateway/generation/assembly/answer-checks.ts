import { type Conversation, requiresTool } from "../../../core/conversation/conversation.ts";
import type { FinishReason, GenerationEvent, Usage } from "../../../core/conversation/events.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { mayBeTruncated, type ProviderEvent } from "../../providers/answers/provider-events.ts";
import type { Assembler, TurnEnd } from "./assembler.ts";

/** Whether an event is part of an answer. `start` and `usage` do not count: some providers send them and then fail. */
export function isAnswerContent({ type }: ProviderEvent): boolean {
  return type !== "start" && type !== "usage" && type !== "account-state" && type !== "other-choice";
}

/** Whether the model only reasoned, without text and without a call (docs/contract.md, general rule 7). */
export function hasOnlyReasoned({ rawReasoning, hasServerTool }: Assembler, end: TurnEnd): boolean {
  return isEmptyAnswer(end) && rawReasoning !== "" && !hasServerTool;
}

/**
 * Whether a turn finished with neither text nor a call. An answer withheld by a filter or cut off by a limit is not empty:
 * a retry would end the same way, and the caller gets the reason.
 */
function isEmptyAnswer({ isEmpty, reason }: TurnEnd): boolean {
  return isEmpty && !mayBeTruncated(reason);
}

export function emptyOutputError(): GatewayError {
  return new GatewayError(429, "the provider returned no visible output", { code: "upstream_empty_output" });
}

/** Whether an error is that of an answer without visible content. */
export function isEmptyOutputError(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "upstream_empty_output";
}

/**
 * Checks that the answer has the tool call that the request demands. The named tool of a native answer is not checked.
 *
 * @throws GatewayError 422 if it has none
 */
export function assertRequiredCall(
  conversation: Conversation,
  assembler: Assembler,
  end: TurnEnd,
  isNative: boolean,
): void {
  const { endedCalls, hasRefused, hasServerTool, hasOmittedCall } = assembler;
  if (!requiresTool(conversation) || endedCalls > 0 || hasRefused) return;
  if (isNative && (conversation.toolChoice.type !== "required" || hasServerTool)) return;
  const cause = mayBeTruncated(end.reason)
    ? "the answer was cut off before one was complete"
    : hasOmittedCall
      ? "the model called another function"
      : "the model made none";
  throw new GatewayError(422, `tool_choice requires a tool call, but ${cause}`, {
    code: "tool_choice_violation",
    param: "tool_choice",
  });
}

function selectFinishReason({ endedCalls }: Assembler, end: TurnEnd): FinishReason {
  if (end.reason === "length" || end.reason === "incomplete") return "length";
  if (end.reason === "content_filter") return end.reason;
  return endedCalls > 0 ? "tool_calls" : "stop";
}

/** The last event of a complete answer. */
export function createFinishEvent(assembler: Assembler, end: TurnEnd, usage: Usage): GenerationEvent {
  const reason = selectFinishReason(assembler, end);
  const { stopSequence } = assembler;
  const sources = assembler.sources();
  return {
    type: "finish",
    reason,
    ...(reason === "stop" && stopSequence !== undefined ? { stopSequence } : {}),
    usage,
    ...(sources === null ? {} : { sources }),
  };
}
