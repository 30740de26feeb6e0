import type {
  AnswerToken,
  CompletedToolCall,
  Completion,
  GenerationEvent,
  SeparateText,
  Usage,
} from "./events.ts";

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
  /** The separate texts before the current one, and where that begins in the text and in the tokens. */
  readonly #texts: SeparateText[] = [];
  #textStart = 0;
  #tokenStart = 0;
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
        if (event.separator !== undefined) this.#texts.push(this.#currentText());
        this.#text += event.text;
        if (event.separator !== undefined) {
          this.#textStart = this.#text.length;
          this.#tokenStart = this.#tokens.length;
        }
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

  #currentText(): SeparateText {
    const text = this.#text.slice(this.#textStart);
    const tokens = this.#tokens.slice(this.#tokenStart);
    return { text, start: this.#textStart, ...(tokens.length === 0 ? {} : { tokens }) };
  }

  /** The completion so far. Calls that have not ended are left out. */
  completion(): Completion {
    const toolCalls = this.#calls
      .filter((call) => call?.ended)
      .map(({ id, name, arguments: text }): CompletedToolCall => ({ id, name, arguments: text }));
    return {
      sessionId: this.#sessionId,
      text: this.#text,
      ...(this.#texts.length === 0 ? {} : { texts: [...this.#texts, this.#currentText()] }),
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

/** Returns the separate texts of an answer, without empty ones. */
export function listTexts({ text, texts, tokens }: Completion): SeparateText[] {
  const one = { text, start: 0, ...(tokens === undefined ? {} : { tokens }) };
  return (texts ?? [one]).filter((each) => each.text !== "");
}
