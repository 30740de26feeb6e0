import { isObject, type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { DONE_EVENT, EventWriter, SEARCH_STATES } from "./stream-items.ts";

/** Returns the text of the first part of a reasoning item, or null without parts. */
function getFirstText(parts: unknown): string | null {
  const [part] = Array.isArray(parts) ? parts : [];
  return isObject(part) ? String(part["text"] ?? "") : null;
}

/** Returns an item as it is when it is added: with empty content. */
function toStartedItem(item: JsonObject): JsonObject {
  const status = item["status"] === undefined ? {} : { status: "in_progress" };
  switch (item["type"]) {
    case "message":
      return { ...item, ...status, content: [] };
    case "reasoning":
      return { ...item, ...status, summary: [] };
    case "function_call":
      return { ...item, ...status, arguments: "" };
    case "custom_tool_call":
      return { ...item, ...status, input: "" };
    case "web_search_call":
      return { ...item, ...status };
    default:
      return item;
  }
}

/** Renders the events of a stored response again, with each text in one delta. */
class ResponseReplay {
  readonly #events: EventWriter;
  readonly #response: JsonObject;
  readonly #id: string;

  constructor(response: JsonObject, after: number) {
    this.#response = response;
    this.#id = String(response["id"]);
    this.#events = new EventWriter(after);
  }

  text(): string {
    const { output, status } = this.#response;
    const items = Array.isArray(output) ? output.filter(isObject) : [];
    const emptyFields = {
      error: null,
      incomplete_details: null,
      completed_at: null,
      usage: null,
      output: [],
    };
    const startedResponse = { ...this.#response, ...emptyFields, status: "in_progress" };
    return (
      this.#lifecycle("created", startedResponse) +
      this.#lifecycle("in_progress", startedResponse) +
      items.map((item, index) => this.#item(item, index)).join("") +
      this.#lifecycle(String(status), this.#response) +
      DONE_EVENT
    );
  }

  #lifecycle(stage: string, response: JsonObject): string {
    return this.#write(`response.${stage}`, { id: this.#id, status: response["status"], response });
  }

  #item(item: JsonObject, index: number): string {
    const position = { response_id: this.#id, item_id: item["id"], output_index: index };
    // Items that were cut off have no closing event.
    const isWhole = this.#response["status"] !== "failed" || item["status"] !== "incomplete";
    return (
      this.#write("response.output_item.added", { ...position, item: toStartedItem(item) }) +
      this.#content(item, position, isWhole) +
      (isWhole ? this.#write("response.output_item.done", { ...position, item }) : "")
    );
  }

  #content(item: JsonObject, position: JsonObject, isWhole: boolean): string {
    switch (item["type"]) {
      case "message":
        return this.#message(item, { ...position, content_index: 0 }, isWhole);
      case "reasoning":
        return this.#reasoning(item, { ...position, summary_index: 0 });
      case "function_call":
        return this.#call(item, position, "function_call_arguments", "arguments");
      case "custom_tool_call":
        return this.#call(item, position, "custom_tool_call_input", "input");
      case "web_search_call":
        return SEARCH_STATES.map((state) => this.#write(`response.web_search_call.${state}`, position)).join(
          "",
        );
      default:
        return "";
    }
  }

  #message(item: JsonObject, position: JsonObject, isWhole: boolean): string {
    const [part] = Array.isArray(item["content"]) ? item["content"] : [];
    if (!isObject(part)) return "";
    const member = part["type"] === "refusal" ? "refusal" : "text";
    const event = member === "refusal" ? "response.refusal" : "response.output_text";
    const textFields = { ...position, [member]: part[member] };
    const tokens = member === "refusal" ? {} : { logprobs: part["logprobs"] ?? [] };
    const empty = member === "refusal" ? { refusal: "" } : { text: "", annotations: [], logprobs: [] };
    return (
      this.#write("response.content_part.added", { ...position, part: { ...part, ...empty } }) +
      this.#write(`${event}.delta`, { ...position, delta: part[member], ...tokens }) +
      (isWhole
        ? this.#write(`${event}.done`, { ...textFields, ...tokens }) +
          this.#write("response.content_part.done", { ...position, part })
        : "")
    );
  }

  #reasoning(item: JsonObject, position: JsonObject): string {
    const text = getFirstText(item["summary"]);
    if (text === null) return "";
    const toSummaryPart = (summary: string) => ({ type: "summary_text", text: summary });
    return (
      this.#write("response.reasoning_summary_part.added", { ...position, part: toSummaryPart("") }) +
      this.#write("response.reasoning_summary_text.delta", { ...position, delta: text }) +
      this.#write("response.reasoning_summary_text.done", { ...position, text }) +
      this.#write("response.reasoning_summary_part.done", { ...position, part: toSummaryPart(text) })
    );
  }

  #call(item: JsonObject, position: JsonObject, event: string, member: "arguments" | "input"): string {
    const callFields = { ...position, call_id: item["call_id"] };
    const text = item[member];
    return (
      (text === "" ? "" : this.#write(`response.${event}.delta`, { ...callFields, delta: text })) +
      this.#write(`response.${event}.done`, { ...callFields, name: item["name"], [member]: text })
    );
  }

  #write(type: string, fields: JsonObject): string {
    return this.#events.write(type, JSON.stringify(fields).slice(1, -1));
  }
}

/**
 * Renders a stored response as a stream. The event numbers are always the same, so a client that lost the connection can
 * continue after the last number that it received.
 *
 * @param body the response object as JSON text.
 * @param after the number of the last event to omit; -1: omit no event.
 */
export function renderStoredResponse(body: string, after: number): string {
  return new ResponseReplay(parseObject(body), after).text();
}
