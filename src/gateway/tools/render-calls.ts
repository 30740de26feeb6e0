import { splitMembers } from "./json-members.ts";
import { encodeCdata, escapeAttribute, renderInvoke, renderWrapper } from "./markup.ts";

/** A call of an earlier turn. `arguments` is JSON text as the caller sent it. */
export interface RenderedCall {
  id: string;
  name: string;
  arguments: string;
}

/** The arguments by name, as JSON text. A text that is not a JSON object becomes one parameter `input`. */
function argumentsByName(source: string): ReadonlyMap<string, string> {
  if (/^\s*(?:null\s*)?$/.test(source)) return new Map();
  return splitMembers(source) ?? new Map([["input", JSON.stringify(source)]]);
}

/** Renders an earlier call as one invoke of the markup, with its id. */
export function renderToolCall(call: RenderedCall): string {
  return renderInvoke(call.name, argumentsByName(call.arguments), call.id);
}

/** Renders the calls of one earlier turn in their order; empty for no calls. */
export function renderToolCalls(calls: readonly RenderedCall[]): string {
  return calls.length === 0 ? "" : renderWrapper(calls.map(renderToolCall));
}

/** Renders the result of an earlier call with its id. The text is CDATA, so it cannot end the element. */
export function renderToolResult(result: {
  id: string;
  name?: string;
  text: string;
  isError?: boolean;
}): string {
  const name = result.name === undefined ? "" : ` name="${escapeAttribute(result.name)}"`;
  const error = result.isError ? ' error="true"' : "";
  return `<|TCML|tool_result id="${escapeAttribute(result.id)}"${name}${error}>${encodeCdata(result.text)}</|TCML|tool_result>`;
}
