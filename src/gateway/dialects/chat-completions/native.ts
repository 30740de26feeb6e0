import { isObject, parseObject } from "../../../core/encoding/json.ts";
import { getMemberText, setMember } from "../../../core/encoding/json-splice.ts";
import type { NativeDialect } from "../shared/native-request.ts";
import { OPENAI_ANSWER_HEADERS, OPENAI_REQUEST_HEADERS } from "../shared/openai-headers.ts";
import { DIALECT_ID } from "./request.ts";

/**
 * Requests the usage of a stream, which the gateway counts. The caller's explicit `include_usage: false` stays. Without it,
 * the added last event is hidden from the caller.
 */
function withUsage(text: string, stream: boolean): ReturnType<NonNullable<NativeDialect["adapt"]>> {
  if (!stream) return { text };
  const options = parseObject(getMemberText(text, ["stream_options"]) ?? "{}");
  if (options["include_usage"] !== undefined && options["include_usage"] !== null) return { text };
  const added = JSON.stringify({ ...options, include_usage: true });
  return { text: setMember(text, "stream_options", added), hidesUsageEvent: true };
}

/** The id of the audio that an earlier answer had. */
function getAudioId(message: unknown): unknown {
  const audio = isObject(message) ? message["audio"] : null;
  return isObject(audio) ? audio["id"] : null;
}

/** Chat completions for providers that speak this style. */
export const nativeChatCompletions: NativeDialect = {
  id: DIALECT_ID,
  contentMember: "messages",
  modelPaths: [["model"]],
  echoedModel: ({ id }) => id,
  otherModelMembers: ["models", "fallbacks", "route"],
  reasoningMembers: [["reasoning_effort"], ["reasoning"], ["thinking"], ["enable_thinking"]],
  maxTokensMembers: [["max_completion_tokens"], ["max_tokens"]],
  requestHeaders: OPENAI_REQUEST_HEADERS,
  answerHeaders: OPENAI_ANSWER_HEADERS,
  canContinueStream: true,
  listAccountStates: ({ messages }) => (Array.isArray(messages) ? messages.map(getAudioId) : []),
  adapt: withUsage,
};

/** Whether a body asks for a stream. */
export function wantsStream(body: unknown): boolean {
  return isObject(body) && body["stream"] === true;
}
