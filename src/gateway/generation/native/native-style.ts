import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { getMemberText, hasMemberInAnyCase, replaceMember } from "../../../core/encoding/json-splice.ts";
import { oncePer } from "../../../core/encoding/once.ts";
import type { NativeRequest } from "../../providers/native/native-path.ts";

/** What the native path must know of an API style: where its answers name the model, and which headers belong to it. */
export interface NativeStyle {
  /** The members of an answer, or of the events of a stream, that name the model. */
  readonly modelPaths: readonly (readonly string[])[];
  /** Only the first event of a stream names the model. */
  readonly namesModelOnce?: true;
  /** SDKs need the provider's chunks as they came: the runtime could join them. */
  readonly keepsChunks?: true;
  /** The name of the model that answers state. */
  echoedModel(model: ResolvedModel): string;
  /** Headers of the provider's answer that go to the caller: full names, or prefixes that end with a hyphen. */
  readonly answerHeaders: readonly string[];
  /** The address names the requested model, and a member `model` is another one. */
  readonly isModelInPath?: true;
  /** The member with the messages. */
  readonly contentMember: string;
  /** Members that name other models, which the gateway cannot check against the permissions of a key. */
  readonly otherModelMembers: readonly string[];
  /** The request members that switch reasoning on. */
  readonly reasoningMembers: readonly (readonly string[])[];
  /** The request member that limits the tokens of the answer. */
  readonly maxTokensMembers: readonly (readonly string[])[];
  /** Whether the answer of another provider can follow in a stream that has shown reasoning. */
  readonly canContinueStream: boolean;
}

/** A request that goes to providers of its own protocol as the caller wrote it. */
export interface NativeJob {
  readonly request: NativeRequest;
  readonly style: NativeStyle;
  /** The stream ends with an event that states only the usage, and the caller did not request it. */
  readonly hidesUsageEvent?: boolean;
  /** Ids in the request of objects that exist at one account, for example a container. */
  readonly accountStateIds: readonly string[];
  /** Why the request cannot be translated for providers of other protocols. Absent: it can. */
  readonly translationError?: Error;
}

/** Whether a request switches reasoning on. */
export function wantsReasoning({ request: { text }, style }: NativeJob): boolean {
  return style.reasoningMembers.some((path) => getMemberText(text, path) !== null);
}

/** Whether a request names models besides the requested one. */
export function namesOtherModels({ request: { text }, style }: NativeJob): boolean {
  return hasMemberInAnyCase(text, style.otherModelMembers);
}

/** The request with at most `output` tokens for the answer: a provider refuses more than its model can write. */
export function capMaxTokens({ request, style }: NativeJob, output: number | undefined): NativeRequest {
  if (output === undefined) return request;
  let { text } = request;
  for (const path of style.maxTokensMembers) {
    const stated = Number(getMemberText(text, path) ?? 0);
    if (stated > output) text = replaceMember(text, path, String(output));
  }
  return { ...request, text };
}

/** Creates a test of names of headers. `patterns`: full names, or prefixes that end with a hyphen. */
export function createHeaderTest(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns);
  const prefixes = patterns.filter((pattern) => pattern.endsWith("-"));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Headers of all styles: SDKs decide with them whether and when to retry. */
const COMMON_ANSWER_HEADERS = ["retry-after-ms", "x-should-retry"];

/** Headers that identify the provider's account, or that belong to the connection. */
const WITHHELD_HEADERS = /organization|workspace|project|^set-cookie|^access-control-/;

const getAnswerHeaderTest = oncePer((answerHeaders: readonly string[]) =>
  createHeaderTest([...COMMON_ANSWER_HEADERS, ...answerHeaders]),
);

/** Characters in the names and values of the headers that go to the caller. Node's clients refuse answers with 16 KiB. */
const MAX_ANSWER_HEADERS = 8_192;

/**
 * Returns the headers of a provider's answer that go to the caller, without those beyond the limit. The provider's request
 * id gets another name.
 */
export function selectAnswerHeaders(
  headers: Headers,
  { answerHeaders }: Pick<NativeStyle, "answerHeaders">,
): Record<string, string> {
  const isKnown = getAnswerHeaderTest(answerHeaders);
  const selected: Record<string, string> = {};
  let room = MAX_ANSWER_HEADERS;
  headers.forEach((value, name) => {
    const isRequestId = name === "request-id" || name === "x-request-id";
    if (!isRequestId && (!isKnown(name) || WITHHELD_HEADERS.test(name))) return;
    const size = name.length + value.length;
    if (size > room) return;
    room -= size;
    selected[isRequestId ? "x-gateway-upstream-request-id" : name] = value;
  });
  return selected;
}
