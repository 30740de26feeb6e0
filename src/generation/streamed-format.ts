import type { ResponseFormat } from "../conversation/conversation.ts";
import type { AnswerToken, GenerationEvent } from "../conversation/events.ts";
import { JsonText } from "./json-text.ts";

/**
 * Brings the text of a stream into the requested format, as far as that goes without a second request: JSON is freed of its
 * code fence and of words around it. Text that leads to a call is no answer in the format and stays as it is.
 */
export class StreamedFormat {
  #json: JsonText | null;
  /** Tokens whose text has not been shown yet. */
  #tokens: AnswerToken[] = [];

  constructor(format: ResponseFormat) {
    this.#json = format.type === "text" ? null : new JsonText(format);
  }

  /** What the caller gets of these events; before an error, what was held back. */
  push(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
    if (this.#json === null) return events;
    const out: GenerationEvent[] = [];
    for (const event of events) {
      const text = this.#text(event);
      if (event.type === "text") for (const token of event.tokens ?? []) this.#tokens.push(token);
      if (text !== "") out.push(this.#shown(text));
      if (event.type !== "text") out.push(event);
    }
    return out;
  }

  #shown(text: string): GenerationEvent {
    if (this.#tokens.length === 0) return { type: "text", text };
    const tokens = this.#tokens;
    this.#tokens = [];
    return { type: "text", text, tokens };
  }

  /** The text that comes with an event, or before it. */
  #text(event: GenerationEvent): string {
    const json = this.#json;
    if (json === null) return event.type === "text" ? event.text : "";
    switch (event.type) {
      case "text":
        return json.push(event.text);
      case "tool-call": {
        this.#json = null;
        const rest = json.rest();
        return rest.trim() === "" ? "" : rest;
      }
      case "finish":
        return json.finish();
      case "error":
        return json.rest();
      default:
        return "";
    }
  }
}
