import { isObject, parseObject } from "../../../core/encoding/json.ts";
import { findAmbiguousMember, getMemberTexts, setMember } from "../../../core/encoding/json-splice.ts";
import type { NativeDialect } from "../shared/native-request.ts";
import { OPENAI_ANSWER_HEADERS, OPENAI_REQUEST_HEADERS } from "../shared/openai-headers.ts";
import { DIALECT_ID } from "./request.ts";

/** The members of `stream_options` that the gateway reads. */
const STREAM_OPTIONS = ["include_usage"];

/** Members that name models besides the requested one. */
export const OTHER_MODEL_MEMBERS = ["models", "fallbacks", "route"];

/**
 * Requests the usage of a stream, which the gateway counts, even if the caller does not want it. The added last event is
 * hidden from a caller who did not ask for it.
 */
function withUsage(text: string, stream: boolean): ReturnType<NonNullable<NativeDialect["adapt"]>> {
  if (!stream) return { text };
  const stated = getMemberTexts(text, "stream_options");
  const [source = "{}"] = stated.slice(-1);
  const { include_usage: asked, ...others } = parseObject(source);
  const hidesUsageEvent = asked !== true;
  const isClear = stated.length < 2 && findAmbiguousMember(source, STREAM_OPTIONS) === null;
  if (!hidesUsageEvent && isClear) return { text };
  // It comes last: parsers that take any case use the last one.
  const options = JSON.stringify({ ...others, include_usage: true });
  return { text: setMember(text, "stream_options", options), hidesUsageEvent };
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
  otherModelMembers: [...OTHER_MODEL_MEMBERS, "preset"],
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
