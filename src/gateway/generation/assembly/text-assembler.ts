import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import type { Sources } from "../../../core/conversation/sources.ts";
import { SurrogateJoiner } from "../../../core/encoding/surrogate-joiner.ts";
import {
  type ProviderEvent,
  type SearchResult,
  TEXT_SEPARATOR,
} from "../../providers/answers/provider-events.ts";
import { CitationFilter, deduplicateSources } from "./citations.ts";
import { ProviderCitations } from "./provider-citations.ts";

/** The text and the reasoning of one answer, as the caller sees them: without citation markers and outer white space. */
export class TextAssembler {
  readonly #showReasoning: boolean;
  /** Null: the answer is not streamed, and a later stage replaces its markers by links. */
  readonly #citations: CitationFilter | null;
  /** The filter for reasoning that a stream shows. A marker is never split between text and reasoning. */
  readonly #reasoningCitations: CitationFilter | null;
  readonly #pairs = {
    text: new SurrogateJoiner(),
    reasoning: new SurrogateJoiner(),
    refusal: new SurrogateJoiner(),
  };
  /** White space at the beginning or after a call: shown only if text follows. */
  #leadingSpace = "";
  #isInText = false;
  /** The next text is separate from the text before it. */
  #startsSeparateText = false;
  /** The separator is held before `#leadingSpace`. */
  #holdsSeparator = false;
  #hasVisibleText = false;
  /** Tokens whose text has not been shown yet. */
  #tokens: AnswerToken[] = [];
  readonly #providerCitations = new ProviderCitations();
  /** The text that the caller was shown, and its length before this turn's text. */
  #shownText = "";
  #turnStart = 0;

  constructor(isStream: boolean, showReasoning: boolean) {
    this.#showReasoning = showReasoning;
    this.#citations = isStream ? new CitationFilter() : null;
    this.#reasoningCitations = isStream && showReasoning ? new CitationFilter() : null;
  }

  get hasVisibleText(): boolean {
    return this.#hasVisibleText;
  }

  pushText(text: string, out: GenerationEvent[]): void {
    this.#holdSeparator(out);
    this.#showFiltered(this.#pairs.text.push(text), out);
  }

  pushRefusal(text: string, out: GenerationEvent[]): void {
    this.#hasVisibleText = true;
    this.endReasoning(out);
    this.#showRefusal(this.#pairs.refusal.push(text), out);
  }

  pushReasoning(text: string, out: GenerationEvent[]): void {
    if (!this.#showReasoning) return;
    this.#showFilteredReasoning(this.#pairs.reasoning.push(text), out);
  }

  pushTokens(tokens: readonly AnswerToken[]): void {
    for (const token of tokens) this.#tokens.push(token);
  }

  pushCitation(citation: Extract<ProviderEvent, { type: "citation" }>): void {
    this.#providerCitations.push(citation, this.#turnStart);
  }

  /** Separates the next text from the text before it. */
  startSeparateText(): void {
    this.#startsSeparateText = true;
  }

  /** Shows the held text: it was not the beginning of a marker. */
  flushText(out: GenerationEvent[]): void {
    this.#showFiltered(this.#pairs.text.flush(), out);
    if (this.#citations !== null) this.#show(this.#citations.finish(), out);
  }

  /** Flushes held reasoning before the answer or at the end: it was not the beginning of a marker. */
  endReasoning(out: GenerationEvent[]): void {
    this.#showFilteredReasoning(this.#pairs.reasoning.flush(), out);
    if (this.#reasoningCitations !== null) this.#showReasoningText(this.#reasoningCitations.finish(), out);
  }

  /** Ends text and reasoning before a call. */
  endBeforeCall(out: GenerationEvent[]): void {
    this.endReasoning(out);
    this.#dropLeading();
    this.#isInText = false;
  }

  endTurn(out: GenerationEvent[]): void {
    this.#showRefusal(this.#pairs.refusal.flush(), out);
    // For example the token that ended the answer, which has no text.
    if (this.#isInText && this.#tokens.length > 0) this.#emit("", out);
    this.#tokens = [];
    this.#dropLeading();
    this.#startsSeparateText = false;
    this.#turnStart = this.#shownText.length;
  }

  /** Sources and citations of the shown text. Null: there are none. */
  sources(searchResults: readonly SearchResult[], queries: readonly string[]): Sources | null {
    const providerCitations = this.#providerCitations.resolveIn(this.#shownText);
    const sources = deduplicateSources([...searchResults, ...providerCitations]);
    if (sources.length === 0) return null;
    const marked = this.#citations?.citations(searchResults) ?? [];
    const citations = [...providerCitations, ...marked].sort((left, right) => left.start - right.start);
    return { queries: [...new Set(queries)], found: sources, citations };
  }

  /** Holds the separator between two texts until the second one has visible text. */
  #holdSeparator(out: GenerationEvent[]): void {
    if (!this.#startsSeparateText) return;
    this.flushText(out);
    this.#dropLeading();
    this.#startsSeparateText = false;
    if (this.#shownText === "") return;
    this.#citations?.push(TEXT_SEPARATOR);
    this.#holdsSeparator = true;
    this.#isInText = false;
  }

  #show(text: string, out: GenerationEvent[]): void {
    if (text === "") return;
    let shown = text;
    if (!this.#isInText) {
      if (text.trim() === "") {
        this.#leadingSpace += text;
        return;
      }
      shown = this.#leadingSpace + text;
      this.#leadingSpace = "";
      this.#isInText = true;
      this.#hasVisibleText = true;
    }
    this.endReasoning(out);
    if (this.#holdsSeparator) {
      this.#holdsSeparator = false;
      const citations = this.#providerCitations.resolveNewIn(this.#shownText);
      this.#shownText += TEXT_SEPARATOR;
      out.push({ type: "text", text: TEXT_SEPARATOR, separator: { citations } });
    }
    this.#emit(shown, out);
  }

  #emit(text: string, out: GenerationEvent[]): void {
    this.#shownText += text;
    if (this.#tokens.length === 0) out.push({ type: "text", text });
    else {
      out.push({ type: "text", text, tokens: this.#tokens });
      this.#tokens = [];
    }
  }

  #showFiltered(text: string, out: GenerationEvent[]): void {
    this.#show(this.#citations === null || text === "" ? text : this.#citations.push(text), out);
  }

  #showFilteredReasoning(text: string, out: GenerationEvent[]): void {
    const filter = this.#reasoningCitations;
    this.#showReasoningText(filter === null || text === "" ? text : filter.push(text), out);
  }

  #showRefusal(text: string, out: GenerationEvent[]): void {
    if (text !== "") out.push({ type: "refusal", text });
  }

  #showReasoningText(text: string, out: GenerationEvent[]): void {
    if (text !== "") out.push({ type: "reasoning", text });
  }

  /** Drops the held white space. A held separator is due again before the next text. */
  #dropLeading(): void {
    this.#citations?.takeBack(this.#leadingSpace.length);
    this.#leadingSpace = "";
    if (!this.#holdsSeparator) return;
    this.#citations?.takeBack(TEXT_SEPARATOR.length);
    this.#holdsSeparator = false;
    this.#startsSeparateText = true;
  }
}
