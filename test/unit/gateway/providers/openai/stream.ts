import { CompletionStreamDecoder } from "../../../../../src/gateway/providers/openai/decoder.ts";
import { decode, type Outcome, utf8 } from "../support.ts";

export function context() {
  let made = 0;
  return { secret: "token-of-the-account", newId: () => `made${++made}` };
}

export function run(...pieces: readonly (string | Uint8Array)[]): Outcome {
  return decode(
    new CompletionStreamDecoder(context()),
    pieces.map((piece) => (typeof piece === "string" ? utf8(piece) : piece)),
  );
}

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

/** The events of calls, in short: `0 id name` and `0+fragment`. */
export function calls({ events }: Outcome): string[] {
  return events.flatMap((event) => {
    if (event.type === "tool-call") return [`${event.index} ${event.id} ${event.name}`];
    return event.type === "tool-arguments" ? [`${event.index}+${event.delta}`] : [];
  });
}
