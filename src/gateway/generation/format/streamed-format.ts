import type { ResponseFormat } from "../../../core/conversation/conversation.ts";
import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import { JsonExtractor } from "./json-extractor.ts";

/**
 * Converts a stream's text to the requested format, as far as possible without a second request: removes the code fence
 * and the text around JSON. Text before a tool call is not an answer in the format, and stays unchanged.
 */
export class StreamedFormat {
  #json: JsonExtractor | null;
  /** Tokens whose text has not been shown yet. */
  #tokens: AnswerToken[] = [];

  constructor(format: ResponseFormat) {
    this.#json = format.type === "text" ? null : new JsonExtractor(format);
  }

  /** Converts events to those for the caller. Before an error, it returns the held text. */
  push(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
    if (this.#json === null) return events;
    const out: GenerationEvent[] = [];
    for (const event of events) {
      const text = this.#text(event);
      if (event.type === "text") for (const token of event.tokens ?? []) this.#tokens.push(token);
      if (text !== "") out.push(this.#textEvent(text));
      if (event.type !== "text") out.push(event);
    }
    return out;
  }

  #textEvent(text: string): GenerationEvent {
    if (this.#tokens.length === 0) return { type: "text", text };
    const tokens = this.#tokens;
    this.#tokens = [];
    return { type: "text", text, tokens };
  }

  /** The text to send with an event, or before it. */
  #text(event: GenerationEvent): string {
    const json = this.#json;
    if (json === null) return event.type === "text" ? event.text : "";
    switch (event.type) {
      case "text":
        return json.push(event.text);
      case "tool-call": {
        this.#json = null;
        const rest = json.takeHeldText();
        return rest.trim() === "" ? "" : rest;
      }
      case "finish":
        return json.finish();
      case "error":
        return json.takeHeldText();
      default:
        return "";
    }
  }
}
