import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import type { GenerationEvent, Usage } from "../../core/conversation/events.ts";
import type { Sources } from "../../core/conversation/sources.ts";
import { checkCall } from "./check-call.ts";
import { maskCitations, maskSources } from "./check-sources.ts";
import { hasMatchingToken } from "./check-tokens.ts";
import { Denial } from "./denial.ts";
import { findCut, maskText } from "./expressions.ts";
import { HeldEvents, isTextEvent, lengthOf, type TextEvent } from "./held-events.ts";
import { TextChecker } from "./text-checker.ts";
import type { WebhookAccess } from "./webhook.ts";

/** How many characters a stream holds back, so that matches of up to this length are found wherever they begin. */
export const HELD_CHARS = 256;
/** Characters of which a webhook is asked at once. */
const WEBHOOK_CHARS = 1_000;

const NO_USAGE: Usage = { prompt: 0, completion: 0, reasoning: 0 };

/** What a guarded stream needs of the generation. */
export interface StreamSurroundings {
  readonly access: WebhookAccess;
  readonly signal: AbortSignal;
  deliver(events: readonly GenerationEvent[]): Promise<void> | undefined;
  /** The usage so far; null: none. */
  usage(): Usage | null;
}

type AnswerTextEvent = Extract<GenerationEvent, { readonly type: "text" }>;
type FinishEvent = Extract<GenerationEvent, { readonly type: "finish" }>;
type CallEvent = Extract<GenerationEvent, { readonly index: number }>;

/**
 * Checks the events of a streamed answer before they are shown, in windows. The texts of a kind are checked as one
 * text, as in a whole answer, whatever comes between them. A denied answer ends with the reason `content_filter`, after
 * what was shown before.
 */
export class GuardedStream {
  /** It shows events as they come, as the stream behind it does. */
  readonly delivery = "stream";
  readonly #surroundings: StreamSurroundings;
  readonly #expressions: readonly Guardrail[];
  readonly #checker: TextChecker;
  /** How many characters are collected before a part is shown. */
  readonly #windowChars: number;
  readonly #held = new HeldEvents();
  /**
   * The end of the shown text of a kind, if less than {@link HELD_CHARS} characters of the kind were held back behind
   * it: a match may begin in it.
   */
  readonly #contexts = new Map<TextEvent["type"], string>();
  #call: CallEvent[] = [];
  #callLength = 0;
  #hasMasked = false;

  constructor(rules: readonly Guardrail[], surroundings: StreamSurroundings) {
    this.#surroundings = surroundings;
    this.#expressions = rules.filter(({ type }) => type === "expressions");
    this.#checker = new TextChecker(rules);
    const hasWebhook = rules.some(({ type }) => type === "webhook");
    this.#windowChars = HELD_CHARS + (hasWebhook ? WEBHOOK_CHARS : HELD_CHARS);
  }

  /** Takes the events of one read. Rejects after a denial, when its end was delivered. */
  async deliver(events: readonly GenerationEvent[]): Promise<void> {
    const shown: GenerationEvent[] = [];
    try {
      for (const event of events) await this.#push(event, shown);
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      const usage = this.#surroundings.usage() ?? NO_USAGE;
      await this.#surroundings.deliver([...shown, { type: "finish", reason: "content_filter", usage }]);
      // Ends the generation. It is a caller's error, so that no other account or model is tried.
      throw new Denial(400, error.message, { code: "content_filter" });
    }
    if (shown.length > 0) await this.#surroundings.deliver(shown);
  }

  async #push(event: GenerationEvent, shown: GenerationEvent[]): Promise<void> {
    switch (event.type) {
      case "text":
      case "reasoning":
      case "refusal":
        this.#held.push(event);
        this.#checker.count(event.text.length);
        return this.#releaseWindows(shown);
      case "tool-call":
      case "tool-arguments":
      case "tool-call-end":
        // A call is cut off if another one begins before its end.
        if (event.type === "tool-call") await this.#endCall();
        this.#call.push(event);
        this.#callLength += lengthOf(event);
        if (event.type === "tool-call-end") await this.#endCall();
        return this.#releaseWindows(shown);
      case "finish": {
        await this.#endCall();
        await this.#release(this.#held.length, shown);
        shown.push(event.sources === undefined ? event : await this.#maskSources(event, event.sources));
        return;
      }
      default:
        shown.push(event);
    }
  }

  /** Releases the events that can be shown. An incomplete call comes after all held events. */
  async #releaseWindows(shown: GenerationEvent[]): Promise<void> {
    shown.push(...this.#held.take(0));
    while (this.#held.length > 0 && this.#held.length + this.#callLength >= this.#windowChars)
      await this.#release(this.#findCut(), shown);
  }

  /** The position up to which events can be shown. */
  #findCut(): number {
    const held = this.#held;
    const end = Math.min(held.length, held.length + this.#callLength - HELD_CHARS);
    let cut = held.findEventEnd(end) || findTextEnd(held.firstText, end);
    for (;;) {
      const before = cut;
      for (const [kind, joined] of held.joinTexts(cut)) {
        const context = this.#contexts.get(kind) ?? "";
        const kindEnd = context.length + joined.before;
        const kindCut = findCut(this.#expressions, context + joined.text, kindEnd);
        if (kindCut < kindEnd)
          cut = Math.min(cut, held.findPosition(kind, Math.max(0, kindCut - context.length)));
      }
      // A match that is longer than the window is shown as far as it came.
      if (cut === 0) return held.length;
      if (cut === before) return cut;
    }
  }

  async #release(end: number, shown: GenerationEvent[]): Promise<void> {
    const maskedTexts = new Map<TextEvent["type"], string>();
    for (const [kind, { text, before }] of this.#held.joinTexts(end)) {
      const context = this.#contexts.get(kind) ?? "";
      // Denies what matches in the text that stays, too.
      maskText(this.#expressions, text, context);
      const original = text.slice(0, before);
      const masked = await this.#checker.maskCounted(original, context);
      if (masked !== original) maskedTexts.set(kind, masked);
      if (before === 0) continue;
      const length = Math.max(0, HELD_CHARS - (text.length - before));
      this.#contexts.set(kind, (context + masked).slice(-length || Number.POSITIVE_INFINITY));
    }
    if (maskedTexts.size > 0) this.#hasMasked = true;
    const released: GenerationEvent[] = [];
    for (const event of this.#held.take(end)) {
      const masked = isTextEvent(event) ? maskedTexts.get(event.type) : undefined;
      if (masked === undefined || !isTextEvent(event)) {
        released.push(event.type === "text" ? await this.#maskDetails(event) : event);
        continue;
      }
      // The first event has the masked text of all.
      if (masked !== "") released.push({ type: event.type, text: masked });
      maskedTexts.set(event.type, "");
    }
    await this.#askWebhooks();
    shown.push(...released);
  }

  /** Masks what an event has besides its text. */
  async #maskDetails(event: AnswerTextEvent): Promise<AnswerTextEvent> {
    const { tokens, ...rest } = event;
    const { text, separator } = event;
    const hasTokens = tokens !== undefined && !(await hasMatchingToken(tokens, text, this.#checker));
    const kept = hasTokens ? event : rest;
    if (separator === undefined) return kept;
    // Masked text has other offsets.
    const citations = this.#hasMasked ? [] : await maskCitations(separator.citations, this.#checker);
    return { ...kept, separator: { citations } };
  }

  async #maskSources(event: FinishEvent, sources: Sources): Promise<FinishEvent> {
    const masked = await maskSources(sources, this.#checker);
    await this.#askWebhooks();
    return { ...event, sources: this.#hasMasked ? { ...masked, citations: [] } : masked };
  }

  /** Checks a call whose arguments are complete, or cut off. It comes after the texts that are held back. */
  async #endCall(): Promise<void> {
    const events = this.#call;
    if (events.length === 0) return;
    this.#call = [];
    this.#callLength = 0;
    let fragment = "";
    for (const event of events) if (event.type === "tool-arguments") fragment += event.delta;
    const masked = await this.#checker.maskJson(fragment);
    const checked: CallEvent[] = [];
    for (const event of events) {
      if (event.type === "tool-call") checked.push({ ...event, id: await checkCall(event, this.#checker) });
      else if (masked === fragment) checked.push(event);
      else if (event.type === "tool-call-end")
        checked.push({ ...event, type: "tool-arguments", delta: masked }, event);
    }
    await this.#askWebhooks();
    for (const event of checked) this.#held.push(event);
  }

  #askWebhooks(): Promise<void> {
    const { access, signal } = this.#surroundings;
    return this.#checker.askWebhooks(access, signal);
  }
}

/** A position near the end of a text at which no word, and no character, is cut. */
function findTextEnd(text: string, end: number): number {
  const space = text.lastIndexOf(" ", end - 1);
  if (space > 0 && space >= end - HELD_CHARS) return space + 1;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
