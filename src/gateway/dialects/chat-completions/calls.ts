import type { CompletedToolCall, FinishReason } from "../../../core/conversation/events.ts";
import { decodeFreeText, FreeTextDecoder } from "../shared/free-text.ts";
import type { CallerTools } from "./tools.ts";

/** Maps to `finish_reason`. The legacy form (`functions`) has its own value for a call: `function_call`. */
export function finishReason(reason: FinishReason, { isLegacy }: CallerTools): string {
  return isLegacy && reason === "tool_calls" ? "function_call" : reason;
}

/** Builds the message fields that contain the tool calls, or no fields without calls. The legacy form allows one call. */
export function toToolCallFields(
  calls: readonly CompletedToolCall[],
  { tools, isLegacy }: CallerTools,
): Record<string, unknown> {
  const [first] = calls;
  if (first === undefined) return {};
  if (isLegacy) return { function_call: { name: first.name, arguments: first.arguments } };
  const toolCalls = calls.map(({ id, name, arguments: text }) => {
    const tool = tools.findCalledTool(name);
    return tool.kind === "custom"
      ? { id, type: "custom", custom: { name: tool.name, input: decodeFreeText(text) } }
      : { id, type: "function", function: { name, arguments: text } };
  });
  return { tool_calls: toolCalls };
}

/**
 * Writes the tool call deltas of one stream. Each result is the JSON of a `delta`, or empty if there is nothing to send.
 */
export class ToolCallDeltaWriter {
  readonly #callerTools: CallerTools;
  /** Input of the free-text tool whose call is currently streamed. */
  #input: FreeTextDecoder | null = null;

  constructor(callerTools: CallerTools) {
    this.#callerTools = callerTools;
  }

  begin(index: number, id: string, name: string): string {
    const { tools, isLegacy } = this.#callerTools;
    if (isLegacy) return index > 0 ? "" : `{"function_call":{"name":${JSON.stringify(name)},"arguments":""}}`;
    const tool = tools.findCalledTool(name);
    this.#input = tool.kind === "custom" ? new FreeTextDecoder() : null;
    const kind = this.#input === null ? "function" : "custom";
    const payload = this.#input === null ? "arguments" : "input";
    const nameJson = JSON.stringify(this.#input === null ? name : tool.name);
    return `{"tool_calls":[{"index":${index},"id":${JSON.stringify(id)},"type":"${kind}","${kind}":{"name":${nameJson},"${payload}":""}}]}`;
  }

  append(index: number, piece: string): string {
    const text = JSON.stringify(piece);
    if (this.#callerTools.isLegacy) return index > 0 ? "" : `{"function_call":{"arguments":${text}}}`;
    if (this.#input !== null) return toInputDelta(index, this.#input.push(piece));
    return `{"tool_calls":[{"index":${index},"function":{"arguments":${text}}}]}`;
  }

  end(index: number): string {
    const input = this.#input;
    this.#input = null;
    return input === null ? "" : toInputDelta(index, input.finish());
  }
}

function toInputDelta(index: number, text: string): string {
  return text === "" ? "" : `{"tool_calls":[{"index":${index},"custom":{"input":${JSON.stringify(text)}}}]}`;
}
