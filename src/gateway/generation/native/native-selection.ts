import { hasModelList, isModelAllowed } from "../../../core/auth/access-rules.ts";
import type { Conversation } from "../../../core/conversation/conversation.ts";
import { NO_THINKING_SUFFIX } from "../../models/catalogue.ts";
import type { PreparedTurn } from "../../providers/answers/upstream-turn.ts";
import type { RegisteredProvider } from "../../providers/provider-registry.ts";
import type { GenerationJob } from "../generation-job.ts";
import { namesForbiddenModel } from "./named-models.ts";
import { capMaxTokens, type NativeJob, namesOtherModels, wantsReasoning } from "./native-style.ts";

/** The native request and its preparation, if the provider speaks the caller's protocol. Null: it must be translated. */
export function selectNativePath(
  { native: job, conversation, context, caller, guard }: GenerationJob,
  { api: { native } }: RegisteredProvider,
  translate: () => PreparedTurn,
): { readonly job: NativeJob; readonly prepared: PreparedTurn } | null {
  if (job === undefined || native?.speaks(job.request.dialect) !== true || !native.accepts(conversation))
    return null;
  // The caller's own text has not been masked, and the provider's bytes cannot be checked.
  if (guard !== undefined) return null;
  if (namesUncheckedModels(job, conversation, context, caller)) return null;
  // The variant without thinking changes the request.
  const { id, thinking, output } = conversation.model;
  if (id.endsWith(NO_THINKING_SUFFIX) || (!thinking && wantsReasoning(job))) return null;
  return { job, prepared: native.prepare(capMaxTokens(job, output), conversation, translate) };
}

/** Whether a request names models besides its own that the caller may not use, or that the gateway cannot check. */
function namesUncheckedModels(
  job: NativeJob,
  { model }: Conversation,
  { requestLimits }: GenerationJob["context"],
  caller: GenerationJob["caller"],
): boolean {
  if (!hasModelList(caller, requestLimits)) return false;
  const isAllowed = (name: unknown) =>
    typeof name === "string" &&
    (name === model.upstream || isModelAllowed(caller, requestLimits, { requested: name, id: name }));
  const { contentMember, isModelInPath = false } = job.style;
  const unchecked = isModelInPath ? [contentMember] : [contentMember, "model"];
  return namesOtherModels(job) || namesForbiddenModel(job.request.text, unchecked, isAllowed);
}

/** The conversation whose native answer is only observed: nothing in it is searched for markup, withheld or cut. */
export function toObserved(conversation: Conversation): Conversation {
  return {
    ...conversation,
    tools: [],
    parallelToolCalls: true,
    thinking: true,
    showReasoning: true,
    options: {},
    stream: false,
  };
}
