import type { Caller } from "../../core/auth/callers.ts";
import { EMPTY_OUTPUT } from "../../core/conversation/outcome.ts";
import { isUnambiguousJson } from "../../core/encoding/json-exactness.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RecordedAnswer } from "../../core/routing/answer-recorder.ts";
import { selectRequestHeaders } from "../dialects/shared/native-request.ts";
import { OPENAI_REQUEST_HEADERS } from "../dialects/shared/openai-headers.ts";
import { Recording } from "../history/recording.ts";
import type { CacheableCall } from "../response-cache/answer-through-cache.ts";
import { describeCall } from "./describe-call.ts";
import type { PassthroughCall } from "./passthrough-call.ts";
import { PASSTHROUGH_STYLE, recordTarget, type Target } from "./targets.ts";

/** An address in an answer: it expires. */
const ADDRESS_MEMBER = /"url"\s{0,9}:\s{0,9}"/;

/** The media type of JSON, with parameters. */
const JSON_TYPE = /^application\/json\b/i;

/** Whether a later request may get an answer: it is whole, no stream of events, and has no address that expires. */
function isStorableAnswer({ headers, body }: RecordedAnswer): boolean {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("text/")) return false;
  if (!JSON_TYPE.test(type)) return true;
  const text = new TextDecoder().decode(body);
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return !ADDRESS_MEMBER.test(text);
}

/** A call whose targets are known. */
interface TargetedCall {
  readonly caller: Caller;
  readonly call: PassthroughCall;
  readonly targets: readonly Target[];
}

/**
 * Describes a request with a JSON body for the response cache. Streams are not cached:
 * their end does not tell whether they are whole.
 */
export function toCacheableCall(context: Context, { caller, call, targets }: TargetedCall): CacheableCall {
  const models = targets.filter((target) => target !== null);
  const [first] = models;
  const { jsonText, stream, model } = call;
  return {
    context,
    caller,
    style: PASSTHROUGH_STYLE,
    model: {
      id: first?.id ?? "",
      requested: model,
      ...(first?.provider === undefined ? {} : { provider: first.provider }),
      // Their order changes from one request to the next.
      route: models.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((target) => ({ model: target })),
    },
    readInput: () => {
      if (jsonText === undefined || stream || !isUnambiguousJson(jsonText)) return null;
      // Parsed again: the parsed body does not stay in memory while a request waits, and few deployments cache.
      return { body: JSON.parse(jsonText), ignoredMembers: ["user"] };
    },
    headers: selectRequestHeaders(context.request, { requestHeaders: OPENAI_REQUEST_HEADERS }),
    isStorable: isStorableAnswer,
    recordReplay: async (admit) => {
      const target = targets[0] ?? null;
      recordTarget(context, target, targets.length === 1);
      const recording = new Recording(context, describeCall(call, target), {
        attempts: [],
        begunAttempts: 0,
      });
      // A cached answer has no text in the history: the record of the first answer has it.
      recording.start("", EMPTY_OUTPUT);
      const end = { error: "", code: "", finishReason: "", usage: null };
      try {
        await admit();
      } catch (thrown) {
        const { message, code, status } = toGatewayError(thrown, context.requestId);
        recording.end({ ...end, status: "error", statusCode: status, error: message, code });
        throw thrown;
      }
      recording.end({ ...end, status: "success", statusCode: 200 });
    },
  };
}
