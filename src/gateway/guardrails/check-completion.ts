import type { Completion } from "../../core/conversation/events.ts";
import { checkCall } from "./check-call.ts";
import { maskSources } from "./check-sources.ts";
import { hasMatchingToken } from "./check-tokens.ts";
import { Denial } from "./denial.ts";
import type { TextChecker } from "./text-checker.ts";

type CompletedCall = Completion["toolCalls"][number];

/** The answer in place of a denied one: no content, and the filter as the reason of its end. */
function withheld({ sessionId, usage }: Completion): Completion {
  return { sessionId, usage, text: "", reasoning: "", toolCalls: [], finishReason: "content_filter" };
}

/** Returns a whole answer with masked texts, or without content if a rule denies it. */
export async function checkCompletion(
  completion: Completion,
  checker: TextChecker,
  askWebhooks: () => Promise<void>,
): Promise<Completion> {
  try {
    const masked = await maskCompletion(completion, checker);
    await askWebhooks();
    return masked;
  } catch (error) {
    if (error instanceof Denial) return withheld(completion);
    throw error;
  }
}

async function maskCompletion(completion: Completion, checker: TextChecker): Promise<Completion> {
  const { text, reasoning, refusal, sources } = completion;
  const toolCalls: CompletedCall[] = [];
  const masked: Completion = {
    ...completion,
    text: await checker.mask(text),
    reasoning: await checker.mask(reasoning),
    ...(refusal === undefined ? {} : { refusal: await checker.mask(refusal) }),
    toolCalls,
    ...(sources === undefined ? {} : { sources: await maskSources(sources, checker) }),
  };
  for (const call of completion.toolCalls) {
    const id = await checkCall(call, checker);
    toolCalls.push({ ...call, id, arguments: await checker.maskJson(call.arguments) });
  }
  if (masked.text === text) return (await hasMatch(completion, checker)) ? withoutTokens(masked) : masked;
  // Offsets and tokens of the former text are those of another one.
  const { texts: _texts, tokens: _tokens, ...rest } = masked;
  return rest.sources === undefined ? rest : { ...rest, sources: { ...rest.sources, citations: [] } };
}

/** Whether an expression matches one of the tokens of an answer. */
async function hasMatch(completion: Completion, checker: TextChecker): Promise<boolean> {
  for (const { text, tokens } of [completion, ...(completion.texts ?? [])])
    if (tokens !== undefined && (await hasMatchingToken(tokens, text, checker))) return true;
  return false;
}

function withoutTokens({ tokens: _, texts, ...rest }: Completion): Completion {
  return texts === undefined ? rest : { ...rest, texts: texts.map(({ text, start }) => ({ text, start })) };
}
