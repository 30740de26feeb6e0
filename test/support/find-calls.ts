import type { ToolDefinition } from "../../src/core/conversation/tool.ts";
import { ToolScanner } from "../../src/gateway/tools/tool-scanner.ts";

/** A call found in a text; `arguments` is the JSON text of one object. */
export interface FoundCall {
  index: number;
  name: string;
  arguments: string;
}

/** Finds the calls in a complete text, and the text around them. */
export function findCalls(
  text: string,
  tools: readonly ToolDefinition[],
): { text: string; calls: FoundCall[] } {
  const scanner = new ToolScanner({ tools, whole: true });
  const calls: FoundCall[] = [];
  let shown = "";
  for (const event of [...scanner.push(text), ...scanner.finish()]) {
    if (event.type === "text") shown += event.text;
    else if (event.type === "tool-call") calls.push({ index: event.index, name: event.name, arguments: "" });
    else if (event.type === "tool-arguments") {
      const call = calls[event.index];
      if (call) call.arguments += event.delta;
    }
  }
  return { text: shown, calls };
}
