import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { EventStreamDecoder } from "../answers/event-stream.ts";
import type { ProviderEvent, ProviderFinish, SearchResult } from "../answers/provider-events.ts";
import { toProviderError } from "../errors/error-response.ts";
import { parseRecord, readUsage } from "../json.ts";

/** Decodes the event stream of one turn of the sessions protocol. Ignores unknown events. */
export class SessionTurnDecoder extends EventStreamDecoder {
  readonly #secret: string;

  /** @param secret the account's token, which no error message may contain. */
  constructor(secret: string) {
    super();
    this.#secret = secret;
  }

  protected override onEvent(name: string | undefined, data: string): void {
    switch (name) {
      case "text":
      case "reasoning": {
        const { text } = parseRecord(data);
        if (typeof text !== "string") throw malformed(name);
        if (text !== "") this.emit({ type: name, text });
        return;
      }
      case "start": {
        const { message_id: messageId } = parseRecord(data);
        if (typeof messageId !== "string" && typeof messageId !== "number") throw malformed(name);
        this.emit({ type: "start", messageId: String(messageId) });
        return;
      }
      case "search":
        this.emit({ type: "search", results: searchResults(parseRecord(data)) });
        return;
      case "usage": {
        const usage = parseRecord(data);
        this.emit({
          type: "usage",
          usage: readUsage({
            prompt: usage["prompt_tokens"],
            completion: usage["completion_tokens"],
            reasoning: usage["reasoning_tokens"],
            cached: usage["cached_tokens"],
          }),
        });
        return;
      }
      case "finish":
        this.emit(toFinishEvent(parseRecord(data)));
        this.markDone();
        return;
      case "error":
        throw toProviderError(parseRecord(data), 0, this.#secret);
      case undefined:
        // The protocol names every event. An event without a name is ignored like an unknown one, unless it is
        // malformed.
        parseRecord(data);
        return;
    }
  }
}

function malformed(name: string): ProviderError {
  return new ProviderError("malformed", `the provider sent a ${name} event of the wrong shape`);
}

function searchResults({ results }: JsonObject): SearchResult[] {
  if (!Array.isArray(results)) throw malformed("search");
  const found: SearchResult[] = [];
  for (const result of results) {
    if (!isObject(result)) throw malformed("search");
    const { index, url, title } = result;
    if (typeof index !== "number" || typeof url !== "string") throw malformed("search");
    found.push({ index, url, title: typeof title === "string" ? title : "" });
  }
  return found;
}

function toFinishEvent(data: JsonObject): ProviderEvent {
  const { stop_sequence: stopSequence } = data;
  const reason = finishReason(data);
  return typeof stopSequence === "string"
    ? { type: "finish", reason, stopSequence }
    : { type: "finish", reason };
}

/** An unknown reason counts as `stop`, because the provider stated that the message is finished. */
function finishReason({ reason }: JsonObject): ProviderFinish {
  switch (reason) {
    case "length":
    case "content_filter":
    case "incomplete":
      return reason;
    case "max_tokens":
    case "max_output_tokens":
      return "length";
  }
  return "stop";
}
