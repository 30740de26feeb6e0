import type { AnswerToken, Completion } from "../../conversation/events.ts";
import type { CalledTool, DeclaredTools } from "../shared/declared-tools.ts";
import { freeText } from "../shared/free-text.ts";
import { logprobsOf } from "../shared/tokens.ts";
import { type UrlCitation, urlCitations } from "../shared/url-citations.ts";
import { itemId } from "./ids.ts";

/** Where an item stands: still being written, whole, or broken off. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** An item of `output`, as the real API shapes it. */
export type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

/** A place in a text part that refers to a page. */
export type Annotation = UrlCitation & { readonly type: "url_citation" };

/** Annotations of a text part that begins so many characters behind the answer's beginning. */
export function annotationsOf({ sources }: Pick<Completion, "sources">, behind = 0): Annotation[] {
  return urlCitations(sources?.citations ?? [], behind).map((citation) => ({
    type: "url_citation",
    ...citation,
  }));
}

/** A part of a message. */
export type OutputPart = Readonly<Record<string, unknown>>;

/** A text part of a message, with the tokens that are known of it and the pages that it refers to. */
export function textPart(
  text: string,
  tokens: readonly AnswerToken[] = [],
  annotations: readonly Annotation[] = [],
): OutputPart {
  return { type: "output_text", text, annotations, logprobs: logprobsOf(tokens) };
}

/** The part of a message in which the model declines. */
export function refusalPart(refusal: string): OutputPart {
  return { type: "refusal", refusal };
}

/** A message; `part` null: its part has not begun. */
export function messageItem(id: string, part: OutputPart | null, status: ItemStatus): OutputItem {
  return { id, type: "message", status, role: "assistant", content: part === null ? [] : [part] };
}

/** Reasoning, as a summary: the form that every client shows. `text` null: its part has not begun. */
export function reasoningItem(id: string, text: string | null): OutputItem {
  return { id, type: "reasoning", summary: text === null ? [] : [{ type: "summary_text", text }] };
}

/** A call. `payload` is the arguments as JSON text, or the input of a free-text tool. */
export function callItem(
  id: string,
  callId: string,
  tool: CalledTool,
  payload: string,
  status: ItemStatus,
): OutputItem {
  const shared = {
    id,
    status,
    call_id: callId,
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
  return tool.kind === "custom"
    ? { ...shared, type: "custom_tool_call", input: payload }
    : { ...shared, type: "function_call", arguments: payload };
}

/** The items of a whole answer: reasoning, the message, the calls. */
export function outputOf(completion: Completion, responseId: string, tools: DeclaredTools): OutputItem[] {
  const output: OutputItem[] = [];
  const { text, reasoning, refusal, tokens, finishReason } = completion;
  if (reasoning !== "") output.push(reasoningItem(itemId("rs", responseId, 0), reasoning));
  if (text !== "") {
    const broken = finishReason === "length" || finishReason === "content_filter";
    const id = itemId("msg", responseId, output.length);
    const part = textPart(text, tokens, annotationsOf(completion));
    output.push(messageItem(id, part, broken ? "incomplete" : "completed"));
  }
  if (refusal !== undefined) {
    output.push(messageItem(itemId("msg", responseId, output.length), refusalPart(refusal), "completed"));
  }
  for (const call of completion.toolCalls) {
    const tool = tools.called(call.name);
    const custom = tool.kind === "custom";
    const id = itemId(custom ? "ctc" : "fc", responseId, output.length);
    const payload = custom ? freeText(call.arguments) : call.arguments;
    output.push(callItem(id, call.id, tool, payload, "completed"));
  }
  return output;
}
