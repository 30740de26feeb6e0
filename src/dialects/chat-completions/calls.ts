import type { CompletedToolCall, FinishReason } from "../../conversation/events.ts";
import { FreeTextInput, freeText } from "../shared/free-text.ts";
import type { CalledAs } from "./tools.ts";

/** Maps to `finish_reason`. The legacy form (`functions`) has its own value for a call: `function_call`. */
export function finishReason(reason: FinishReason, { legacy }: CalledAs): string {
  return legacy && reason === "tool_calls" ? "function_call" : reason;
}

/** Builds the message fields that contain the tool calls, or no fields without calls. The legacy form allows one call. */
export function callMembers(
  calls: readonly CompletedToolCall[],
  { tools, legacy }: CalledAs,
): Record<string, unknown> {
  const [first] = calls;
  if (first === undefined) return {};
  if (legacy) return { function_call: { name: first.name, arguments: first.arguments } };
  const shown = calls.map(({ id, name, arguments: text }) => {
    const tool = tools.called(name);
    return tool.kind === "custom"
      ? { id, type: "custom", custom: { name: tool.name, input: freeText(text) } }
      : { id, type: "function", function: { name, arguments: text } };
  });
  return { tool_calls: shown };
}

/**
 * Writes the tool call deltas of one stream. Each result is the JSON of a `delta`, or empty if there is nothing to send.
 */
export class CallDeltas {
  readonly #called: CalledAs;
  /** Input of the free-text tool whose call is currently streamed. */
  #input: FreeTextInput | null = null;

  constructor(called: CalledAs) {
    this.#called = called;
  }

  begin(index: number, id: string, name: string): string {
    const { tools, legacy } = this.#called;
    if (legacy) return index > 0 ? "" : `{"function_call":{"name":${JSON.stringify(name)},"arguments":""}}`;
    const tool = tools.called(name);
    this.#input = tool.kind === "custom" ? new FreeTextInput() : null;
    const kind = this.#input === null ? "function" : "custom";
    const payload = this.#input === null ? "arguments" : "input";
    const shown = JSON.stringify(this.#input === null ? name : tool.name);
    return `{"tool_calls":[{"index":${index},"id":${JSON.stringify(id)},"type":"${kind}","${kind}":{"name":${shown},"${payload}":""}}]}`;
  }

  fill(index: number, piece: string): string {
    const text = JSON.stringify(piece);
    if (this.#called.legacy) return index > 0 ? "" : `{"function_call":{"arguments":${text}}}`;
    if (this.#input !== null) return inputDelta(index, this.#input.push(piece));
    return `{"tool_calls":[{"index":${index},"function":{"arguments":${text}}}]}`;
  }

  end(index: number): string {
    const input = this.#input;
    this.#input = null;
    return input === null ? "" : inputDelta(index, input.finish());
  }
}

function inputDelta(index: number, text: string): string {
  return text === "" ? "" : `{"tool_calls":[{"index":${index},"custom":{"input":${JSON.stringify(text)}}}]}`;
}
