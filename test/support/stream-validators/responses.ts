import { isDeepStrictEqual } from "node:util";
import type { CompletedToolCall, Completion, FinishReason } from "../../../src/core/conversation/events.ts";
import { checkPublishedEvent } from "../published.ts";

type Json = Record<string, unknown>;

/** One event of a responses stream, from its `data` line. */
export interface ResponsesEvent extends Json {
  readonly type: string;
}

/** Content of a valid responses stream. */
export interface ValidatedResponsesStream {
  readonly events: readonly ResponsesEvent[];
  /** The answer, folded from the final response object; `sessionId` is the response id. */
  readonly completion: Completion;
  /** The error of `response.failed`, with the gateway's own code; else null. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The response object of the last event. */
  readonly response: Json;
}

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

function fail(message: string, value?: unknown): never {
  throw new Error(`responses stream: ${message}${value === undefined ? "" : ` ${JSON.stringify(value)}`}`);
}

function check(condition: boolean, message: string, value?: unknown): asserts condition {
  if (!condition) fail(message, value);
}

function object(value: unknown, what: string): Json {
  check(typeof value === "object" && value !== null && !Array.isArray(value), `${what} is no object:`, value);
  return { ...value };
}

function string(value: unknown, what: string): string {
  return typeof value === "string" ? value : fail(`${what} is no string:`, value);
}

function number(value: unknown, what: string): number {
  return typeof value === "number" ? value : fail(`${what} is no number:`, value);
}

function array(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : fail(`${what} is no array:`, value);
}

/** Parses the `data` values of an event stream up to `[DONE]`. Each item has one `event:` and one `data:` line. */
function parse(text: string): ResponsesEvent[] {
  check(text.endsWith("\n\n"), "the last item is not closed by a blank line");
  const events: ResponsesEvent[] = [];
  let done = false;
  for (const block of text.slice(0, -2).split("\n\n")) {
    if (block.startsWith(":")) continue;
    check(!done, "something follows [DONE]:", block);
    if (block === "data: [DONE]") {
      done = true;
      continue;
    }
    const [, name, json] = /^event: (\S+)\ndata: ([^\n]*)$/.exec(block) ?? fail("not an item:", block);
    const data = object(JSON.parse(json ?? ""), "data");
    check(data["type"] === name, `event: ${name} differs from type`, data["type"]);
    check(data["sequence_number"] === events.length, "sequence_number is not the next one:", data);
    events.push({ ...data, type: string(data["type"], "type") });
  }
  check(done, "[DONE] is missing");
  return events;
}

interface OpenItem {
  readonly item: Json;
  readonly id: string;
  text: string;
  part: "none" | "open" | "text-done" | "done";
}

/** Checks the events between the first and the last: one item at a time, each opened, filled and closed. */
class Items {
  readonly #responseId: string;
  readonly done: Json[] = [];
  readonly #ids = new Set<string>();
  #open: OpenItem | null = null;

  constructor(responseId: string) {
    this.#responseId = responseId;
  }

  /** Whether the open item is a call. */
  get openCall(): boolean {
    return this.#open !== null && "call_id" in this.#open.item;
  }

  get open(): boolean {
    return this.#open !== null;
  }

  take(event: ResponsesEvent): void {
    check(event["response_id"] === this.#responseId, "response_id differs:", event);
    check(event["output_index"] === this.done.length, "output_index is not the next one:", event);
    if (event.type === "response.output_item.added") {
      this.#add(event);
      return;
    }
    const open = this.#open ?? fail("no item is open for", event);
    check(event["item_id"] === open.id, "item_id is not that of the open item:", event);
    switch (event.type) {
      case "response.content_part.added":
      case "response.reasoning_summary_part.added": {
        check(open.part === "none", "a second part:", event);
        check(saidBy(object(event["part"], "part")) === "", "a new part must be empty:", event);
        open.part = "open";
        break;
      }
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_summary_text.delta":
        check(open.part === "open", "text outside of a part:", event);
        open.text += string(event["delta"], "delta");
        break;
      case "response.output_text.done":
      case "response.refusal.done":
      case "response.reasoning_summary_text.done":
        check(open.part === "open", "the part is not open:", event);
        check(saidBy(event) === open.text, "text is not what was streamed:", event);
        open.part = "text-done";
        break;
      case "response.content_part.done":
      case "response.reasoning_summary_part.done":
        check(open.part === "text-done", "the part's text is not done:", event);
        check(saidBy(object(event["part"], "part")) === open.text, "part is not what was streamed:", event);
        open.part = "done";
        break;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        check(event["call_id"] === open.item["call_id"], "call_id differs:", event);
        open.text += string(event["delta"], "delta");
        break;
      case "response.function_call_arguments.done":
      case "response.custom_tool_call_input.done":
        check(event["call_id"] === open.item["call_id"], "call_id differs:", event);
        check(event["name"] === open.item["name"], "name differs:", event);
        check((event["arguments"] ?? event["input"]) === open.text, "arguments differ:", event);
        open.part = "done";
        break;
      case "response.web_search_call.in_progress":
        check(open.part === "none", "the search is already in progress:", event);
        open.part = "open";
        break;
      case "response.web_search_call.searching":
        check(open.part === "open", "the search is not in progress:", event);
        open.part = "text-done";
        break;
      case "response.web_search_call.completed":
        check(open.part === "text-done", "the search does not run:", event);
        open.part = "done";
        break;
      case "response.output_item.done":
        this.#close(open, object(event["item"], "item"));
        break;
      default:
        fail("an event that no SDK knows:", event.type);
    }
    this.#matches(open.item["type"], event.type);
  }

  #add(event: ResponsesEvent): void {
    check(this.#open === null, "an item is added while another is open:", event);
    const item = object(event["item"], "item");
    const id = string(item["id"], "item.id");
    check(id !== "" && !this.#ids.has(id), "an item id is empty or used twice:", id);
    check(event["item_id"] === id, "item_id is not item.id:", event);
    this.#ids.add(id);
    switch (item["type"]) {
      case "message":
        check(isDeepStrictEqual(item["content"], []), "a new message must be empty:", item);
        break;
      case "reasoning":
        check(isDeepStrictEqual(item["summary"], []), "new reasoning must be empty:", item);
        break;
      case "web_search_call":
        check(item["status"] === "in_progress", "a new search must be in progress:", item);
        break;
      case "function_call":
      case "custom_tool_call": {
        const call = string(item["call_id"], "item.call_id");
        check(call !== "" && call !== id && !this.#ids.has(call), "call_id is empty or used twice:", item);
        this.#ids.add(call);
        check(string(item["name"], "item.name") !== "", "a call without a name:", item);
        check((item["arguments"] ?? item["input"]) === "", "a new call must be empty:", item);
        break;
      }
      default:
        fail("an item of an unknown type:", item);
    }
    this.#open = { item, id, text: "", part: "none" };
  }

  #close(open: OpenItem, item: Json): void {
    check(open.part === "done", "an item is closed before its part:", item);
    for (const name of ["id", "type", "call_id", "name", "namespace"]) {
      check(item[name] === open.item[name], `${name} of an item changed:`, item);
    }
    check(textOf(item) === open.text, "the item is not what was streamed:", item);
    if (item["type"] === "function_call") object(JSON.parse(open.text), "arguments");
    check(item["status"] !== "in_progress", "a closed item is in progress:", item);
    this.done.push(item);
    this.#open = null;
  }

  #matches(itemType: unknown, eventType: string): void {
    if (eventType.startsWith("response.output_item.")) return;
    const owner = {
      content_part: "message",
      output_text: "message",
      refusal: "message",
      reasoning_summary_part: "reasoning",
      reasoning_summary_text: "reasoning",
      function_call_arguments: "function_call",
      custom_tool_call_input: "custom_tool_call",
      web_search_call: "web_search_call",
    }[eventType.split(".")[1] ?? ""];
    check(owner === itemType, `${eventType} in an item of type`, itemType);
  }
}

/** Text, arguments or input of an output item. */
function textOf(item: Json): string {
  if (typeof item["arguments"] === "string") return item["arguments"];
  if (typeof item["input"] === "string") return item["input"];
  if (item["type"] === "web_search_call") return "";
  const parts = array(item["content"] ?? item["summary"], "content");
  return parts.map((part) => saidBy(object(part, "part"))).join("");
}

/** Text of a part or an event; for a refusal, the text of the refusal. */
function saidBy(value: Json): string {
  const type = string(value["type"], "type");
  const member = type === "refusal" || type.startsWith("response.refusal.") ? "refusal" : "text";
  return string(value[member], member);
}

/** Whether an output item is a refusal. */
function refuses(item: Json): boolean {
  return array(item["content"], "content").some((part) => object(part, "part")["type"] === "refusal");
}

/** Converts a response object to the program's own {@link Completion}. */
export function completionOf(response: Json): Completion {
  let text = "";
  let refusal = "";
  let reasoning = "";
  const toolCalls: CompletedToolCall[] = [];
  for (const each of array(response["output"], "response.output")) {
    const item = object(each, "item");
    if (item["type"] === "message" && refuses(item)) refusal += textOf(item);
    else if (item["type"] === "message") text += textOf(item);
    else if (item["type"] === "reasoning") reasoning += textOf(item);
    else if (item["type"] === "web_search_call") continue;
    else {
      const id = string(item["call_id"], "call_id");
      toolCalls.push({ id, name: string(item["name"], "name"), arguments: textOf(item) });
    }
  }
  const details = response["incomplete_details"];
  const reason = details === null ? null : object(details, "incomplete_details")["reason"];
  const ended: FinishReason = reason === "content_filter" ? "content_filter" : "length";
  const finishReason = reason !== null ? ended : toolCalls.length > 0 ? "tool_calls" : "stop";
  const usage = response["usage"] === null ? {} : object(response["usage"], "usage");
  const tokens = usage["output_tokens_details"];
  return {
    sessionId: string(response["id"], "id"),
    text,
    ...(refusal === "" ? {} : { refusal }),
    reasoning,
    toolCalls,
    finishReason,
    usage: {
      prompt: number(usage["input_tokens"] ?? 0, "input_tokens"),
      completion: number(usage["output_tokens"] ?? 0, "output_tokens"),
      reasoning: tokens === undefined ? 0 : number(object(tokens, "details")["reasoning_tokens"], "tokens"),
    },
  };
}

function checkLifecycle(event: ResponsesEvent, id: string): Json {
  const response = object(event["response"], "response");
  check(response["id"] === id && event["id"] === id, "the response id changed:", event);
  check(response["status"] === event["status"], "status differs from response.status:", event);
  check(response["object"] === "response", "response.object:", response["object"]);
  number(response["created_at"], "response.created_at");
  string(response["model"], "response.model");
  return response;
}

function checkEnd(
  last: ResponsesEvent,
  response: Json,
  items: Items,
): { code: string; message: string } | null {
  const output = array(response["output"], "response.output");
  check(last["error"] === undefined, "error belongs into response:", last);
  if (last.type === "response.failed") {
    check(response["status"] === "failed", "status:", response["status"]);
    check(
      isDeepStrictEqual(output.slice(0, items.done.length), items.done),
      "items differ from those streamed",
    );
    const error = object(response["error"], "response.error");
    const message = string(error["message"], "error.message");
    return { code: string(error["gateway_code"], "error.gateway_code"), message };
  }
  // A call that was cut off is neither closed nor listed.
  const cut = last.type === "response.incomplete" && items.openCall;
  check(!items.open || cut, "the stream ends while an item is open");
  check(`response.${response["status"]}` === last.type, "status:", response["status"]);
  check(response["error"] === null, "error:", response["error"]);
  check(isDeepStrictEqual(output, items.done), "response.output differs from the items streamed:", output);
  const usage = object(response["usage"], "usage");
  const sum = number(usage["input_tokens"], "input_tokens") + number(usage["output_tokens"], "output_tokens");
  check(usage["total_tokens"] === sum, "total_tokens:", usage);
  return null;
}

/**
 * Checks the whole text of a responses stream: framing, numbering, one open item at a time, a `done` for every `added`,
 * stable ids, a final response that equals the streamed content, exactly one terminal event, `[DONE]` last, and every event
 * against OpenAI's published schema.
 *
 * @throws Error that names the violation.
 */
export function validateResponsesStream(text: string): ValidatedResponsesStream {
  const events = parse(text);
  const first = events[0] ?? fail("no events");
  check(first.type === "response.created", "the first event is", first.type);
  check(events[1]?.type === "response.in_progress", "the second event is", events[1]?.type);
  const id = string(first["id"], "id");
  check(/^resp_\w+$/.test(id), "the response id is", id);
  const items = new Items(id);
  for (const [index, event] of events.entries()) {
    const terminal = TERMINAL.has(event.type);
    check(terminal === (index === events.length - 1), "the terminal event is not the last one:", event.type);
    if (terminal) continue;
    if (index > 1) items.take(event);
    else {
      const response = checkLifecycle(event, id);
      check(response["status"] === "in_progress", "status:", response["status"]);
      check(isDeepStrictEqual(response["output"], []), "output must be empty:", response["output"]);
    }
  }
  for (const event of events) checkPublishedEvent(event);
  const last = events.at(-1) ?? first;
  const response = checkLifecycle(last, id);
  const error = checkEnd(last, response, items);
  return { events, completion: completionOf(response), error, response };
}
