import type { AnswerToken, CompletedToolCall, Completion, GenerationEvent, Usage } from "./events.ts";

/**
 * Combines the events of one generation into a {@link Completion}. `push` throws the error of an `error` event, so that a
 * non-streaming caller gets it as an HTTP status.
 */
export class CompletionFold {
  #sessionId = "";
  #text = "";
  #reasoning = "";
  #refusal = "";
  readonly #tokens: AnswerToken[] = [];
  readonly #calls: { id: string; name: string; arguments: string; ended: boolean }[] = [];
  #finishReason: Completion["finishReason"] = "stop";
  #stopSequence: string | undefined;
  #sources: Completion["sources"];
  #usage: Usage = { prompt: 0, completion: 0, reasoning: 0 };

  /** Takes the next event. Throws the error of an `error` event. */
  push(event: GenerationEvent): void {
    switch (event.type) {
      case "start":
        this.#sessionId = event.sessionId;
        break;
      case "text":
        this.#text += event.text;
        for (const token of event.tokens ?? []) this.#tokens.push(token);
        break;
      case "refusal":
        this.#refusal += event.text;
        break;
      case "reasoning":
        this.#reasoning += event.text;
        break;
      case "tool-call":
        this.#calls[event.index] = { id: event.id, name: event.name, arguments: "", ended: false };
        break;
      case "tool-arguments": {
        const call = this.#calls[event.index];
        if (call !== undefined) call.arguments += event.delta;
        break;
      }
      case "tool-call-end": {
        const call = this.#calls[event.index];
        if (call !== undefined) call.ended = true;
        break;
      }
      case "finish":
        this.#finishReason = event.reason;
        this.#stopSequence = event.stopSequence;
        this.#usage = event.usage;
        this.#sources = event.sources;
        break;
      case "error":
        throw event.error;
    }
  }

  /** The completion so far. Calls that have not ended are left out. */
  completion(): Completion {
    const toolCalls = this.#calls
      .filter((call) => call?.ended)
      .map(({ id, name, arguments: text }): CompletedToolCall => ({ id, name, arguments: text }));
    return {
      sessionId: this.#sessionId,
      text: this.#text,
      reasoning: this.#reasoning,
      ...(this.#refusal === "" ? {} : { refusal: this.#refusal }),
      ...(this.#tokens.length === 0 ? {} : { tokens: this.#tokens }),
      toolCalls,
      finishReason: this.#finishReason,
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      usage: this.#usage,
      ...(this.#sources === undefined ? {} : { sources: this.#sources }),
    };
  }
}
