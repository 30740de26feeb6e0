import { listTexts } from "../../../core/conversation/completion-fold.ts";
import type { AnswerToken, Completion } from "../../../core/conversation/events.ts";
import { type Citation, citationsIn, type Sources } from "../../../core/conversation/sources.ts";
import type { DeclaredTool, DeclaredTools } from "../shared/declared-tools.ts";
import { decodeFreeText } from "../shared/free-text.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { toUrlCitations, type UrlCitation } from "../shared/url-citations.ts";
import { createItemId } from "./ids.ts";

/** Status of an item: in progress, complete, or cut off. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** An item of `output`, in the form of the real API. */
export type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

/** A citation of a web page in a text part. */
export type Annotation = UrlCitation & { readonly type: "url_citation" };

/** Builds the annotations of a text part. `offset` is the offset of the part in the answer's text, in characters. */
export function toAnnotations(citations: readonly Citation[], offset: number): Annotation[] {
  return toUrlCitations(citations, offset).map((citation) => ({
    type: "url_citation",
    ...citation,
  }));
}

/** A content part of a message. */
export type OutputPart = Readonly<Record<string, unknown>>;

/** Builds a text part of a message, with its log probabilities and its citations. */
export function toTextPart(
  text: string,
  tokens: readonly AnswerToken[] = [],
  annotations: readonly Annotation[] = [],
): OutputPart {
  return { type: "output_text", text, annotations, logprobs: toLogprobs(tokens) };
}

/** Builds the part of a message that contains a refusal. */
export function toRefusalPart(refusal: string): OutputPart {
  return { type: "refusal", refusal };
}

/** Builds a message. `part` null: its content part has not started. */
export function toMessageItem(id: string, part: OutputPart | null, status: ItemStatus): OutputItem {
  return { id, type: "message", status, role: "assistant", content: part === null ? [] : [part] };
}

/** Builds a reasoning item with a summary, the form that every client displays. `text` null: its part has not started. */
export function toReasoningItem(id: string, text: string | null): OutputItem {
  return { id, type: "reasoning", summary: text === null ? [] : [{ type: "summary_text", text }] };
}

/** Builds a tool call. `payload` is the arguments as JSON text, or the input of a free-text tool. */
export function toCallItem(
  id: string,
  callId: string,
  tool: DeclaredTool,
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

/**
 * Builds the item of the provider's web searches. It is one item, because providers do not state which search found a page.
 * Null: the caller requested no search, or the provider states none.
 */
export function toSearchItem(
  createId: () => string,
  sources: Sources | undefined,
  isRequested: boolean,
): OutputItem | null {
  if (!isRequested || sources === undefined) return null;
  const { queries, found } = sources;
  if (queries.length + found.length === 0) return null;
  const action = {
    type: "search",
    query: queries[0] ?? "",
    queries,
    sources: found.map(({ url }) => ({ type: "url", url })),
  };
  return { id: createId(), type: "web_search_call", status: "completed", action };
}

/** Builds the items of a whole answer: reasoning, web search, message, refusal, calls. */
export function toOutputItems(
  completion: Completion,
  responseId: string,
  tools: DeclaredTools,
  isSearchRequested = false,
): OutputItem[] {
  const output: OutputItem[] = [];
  const { reasoning, refusal, finishReason, sources } = completion;
  if (reasoning !== "") output.push(toReasoningItem(createItemId("rs", responseId, 0), reasoning));
  const search = toSearchItem(
    () => createItemId("ws", responseId, output.length),
    sources,
    isSearchRequested,
  );
  if (search !== null) output.push(search);
  const texts = listTexts(completion);
  for (const text of texts) {
    const isLast = text === texts.at(-1);
    const isIncomplete = isLast && (finishReason === "length" || finishReason === "content_filter");
    const id = createItemId("msg", responseId, output.length);
    const part = toTextPart(text.text, text.tokens, toAnnotations(citationsIn(text, sources), text.start));
    output.push(toMessageItem(id, part, isIncomplete ? "incomplete" : "completed"));
  }
  if (refusal !== undefined) {
    output.push(
      toMessageItem(createItemId("msg", responseId, output.length), toRefusalPart(refusal), "completed"),
    );
  }
  for (const call of completion.toolCalls) {
    const tool = tools.findCalledTool(call.name);
    const custom = tool.kind === "custom";
    const id = createItemId(custom ? "ctc" : "fc", responseId, output.length);
    const payload = custom ? decodeFreeText(call.arguments) : call.arguments;
    output.push(toCallItem(id, call.id, tool, payload, "completed"));
  }
  return output;
}
