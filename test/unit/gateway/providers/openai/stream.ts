import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/answers/whole-answer.ts";
import {
  CompletionStreamDecoder,
  completionEvents,
} from "../../../../../src/gateway/providers/openai/decoder.ts";
import { type DecoderFactory, type Outcome, runWith, SECRET } from "../support.ts";

export function context() {
  let made = 0;
  return { secret: SECRET, newId: () => `made${++made}` };
}

export const createDecoder: DecoderFactory = () => new CompletionStreamDecoder(context());

export const createWholeDecoder: DecoderFactory = () =>
  new WholeAnswerDecoder((completion) => completionEvents(completion, context()));

export const run = runWith(createDecoder);

export const data = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
export const DONE = "data: [DONE]\n\n";

/** A chunk with one choice. */
export function chunk(delta: unknown, finish: string | null = null): string {
  return data({
    id: "c1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

export const call = (...toolCalls: readonly unknown[]): string => chunk({ tool_calls: toolCalls });

/** A whole answer whose last chunk states counts. */
export const counted = (usage: object): string =>
  chunk({ content: "x" }, "stop") + data({ id: "c1", choices: [], usage }) + DONE;

/** The events of calls, in short: `0 id name` and `0+fragment`. */
export function calls({ events }: Outcome): string[] {
  return events.flatMap((event) => {
    if (event.type === "tool-call") return [`${event.index} ${event.id} ${event.name}`];
    return event.type === "tool-arguments" ? [`${event.index}+${event.delta}`] : [];
  });
}
