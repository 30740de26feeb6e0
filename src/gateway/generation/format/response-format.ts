import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { Completion } from "../../../core/conversation/events.ts";
import { addUsage } from "../../../core/conversation/usage-details.ts";
import { onAbort } from "../../../core/http/abort-signals.ts";
import { type CompletionStage, linkSources, runToCompletion } from "../completion-stages.ts";
import { createNestedJob, type GenerationJob } from "../generation-job.ts";
import { prepareGeneration } from "../prepare-generation.ts";
import { checkFormat, type FormatCheck } from "./format-check.ts";
import { extractJson } from "./json-extractor.ts";
import type { FormatRank } from "./json-rank.ts";

const RANKS: readonly FormatRank[] = ["none", "json", "valid"];

/**
 * Checks a complete answer against the requested format. If it breaks the format, asks the model once to correct it. Code
 * fences and text around JSON are removed. The better of the two answers is returned, with the usage of both. If the repair
 * fails, the first answer is returned.
 *
 * Answers that call tools or decline stay unchanged. Answers that were cut short are not corrected.
 */
export const repairFormat: CompletionStage = async (completion, job) => {
  const { responseFormat: format } = job.conversation;
  const { toolCalls, refusal } = completion;
  if (format.type === "text" || toolCalls.length > 0 || refusal !== undefined) return completion;
  if (completion.finishReason !== "stop") {
    return { ...completion, text: extractJson(completion.text, format) };
  }
  const check = checkFormat(completion.text, format);
  const first = { ...completion, text: check.text };
  if (check.rank === "valid") return first;
  const second = await requestCorrection(job, completion.text, check);
  if (second === null) return first;
  const usage = addUsage(first.usage, second.usage);
  const recheck = checkFormat(second.text, format);
  if (RANKS.indexOf(recheck.rank) <= RANKS.indexOf(check.rank)) return { ...first, usage };
  const { tokens: _, ...firstWithoutTokens } = first;
  return {
    ...firstWithoutTokens,
    ...(second.tokens && { tokens: second.tokens }),
    text: recheck.text,
    usage,
  };
};

/** Asks the model to correct an answer. Null when that fails. */
async function requestCorrection(
  job: GenerationJob,
  invalidText: string,
  check: FormatCheck,
): Promise<Completion | null> {
  const { context, conversation } = job;
  const { signal } = job.abort;
  signal.throwIfAborted();
  if (!job.retries.take("format", null)) return null;
  // A separate controller: a timeout of the repair must not abort the first answer.
  const abort = new AbortController();
  const stop = onAbort(signal, () => abort.abort(signal.reason));
  const retries = context.facts.retries ?? 0;
  try {
    const repair = createNestedJob(job, {
      conversation: createRepairConversation(conversation, invalidText, check),
      abort,
    });
    const generation = await prepareGeneration(repair);
    return await linkSources(await runToCompletion(generation), repair, generation);
  } catch {
    signal.throwIfAborted();
    return null;
  } finally {
    context.facts.retries = retries + 1;
    stop();
  }
}

/** The conversation plus the broken answer and a list of its faults. */
function createRepairConversation(
  conversation: Conversation,
  invalidText: string,
  { faults }: FormatCheck,
): Conversation {
  const request = [
    "Your answer does not have the form that was asked for:",
    ...faults.map((fault) => `- ${fault}`),
    "Answer again with the corrected JSON and nothing else.",
  ].join("\n");
  return {
    ...conversation,
    messages: [
      ...conversation.messages,
      { role: "assistant", parts: [{ type: "text", text: invalidText }], toolCalls: [] },
      { role: "user", parts: [{ type: "text", text: request }] },
    ],
    tools: [],
    toolChoice: { type: "auto" },
    thinking: false,
    showReasoning: false,
  };
}
