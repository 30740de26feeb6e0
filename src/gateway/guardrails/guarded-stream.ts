import type { Guardrail } from "../../core/config/guardrail-schema.ts";
import type { GenerationEvent, Usage } from "../../core/conversation/events.ts";
import { Denial } from "./denial.ts";
import { findCut, maskText } from "./expressions.ts";
import { HeldText } from "./held-text.ts";
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

type CallEvent = Extract<GenerationEvent, { readonly index: number }>;

/**
 * Checks the events of a streamed answer before they are shown, in windows. A denied answer ends with the reason
 * `content_filter`, after what was shown before.
 */
export class GuardedStream {
  /** It shows events as they come, as the stream behind it does. */
  readonly delivery = "stream";
  readonly #surroundings: StreamSurroundings;
  readonly #expressions: readonly Guardrail[];
  readonly #checker: TextChecker;
  /** How many characters are collected before a part is shown. */
  readonly #windowChars: number;
  readonly #held = new HeldText();
  #call: CallEvent[] = [];
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
        if (this.#held.isOtherKind(event)) await this.#releaseAll(shown);
        this.#held.push(event);
        this.#checker.count(event.text.length);
        while (this.#held.text.length >= this.#windowChars) await this.#releaseWindow(shown);
        return;
      case "tool-call":
      case "tool-arguments":
        await this.#releaseAll(shown);
        // A call is cut off if another one begins before its end.
        if (event.type === "tool-call") await this.#releaseCall(shown);
        this.#call.push(event);
        return;
      case "tool-call-end":
        this.#call.push(event);
        return this.#releaseCall(shown);
      case "finish": {
        await this.#releaseAll(shown);
        await this.#releaseCall(shown);
        const { sources } = event;
        const isMoved = this.#hasMasked && sources !== undefined;
        // Masked text has other offsets.
        shown.push(isMoved ? { ...event, sources: { ...sources, citations: [] } } : event);
        return;
      }
      default:
        shown.push(event);
    }
  }

  async #releaseAll(shown: GenerationEvent[]): Promise<void> {
    const { length } = this.#held.text;
    if (length > 0) await this.#release(length, shown);
  }

  async #releaseWindow(shown: GenerationEvent[]): Promise<void> {
    const { text } = this.#held;
    const end = text.length - HELD_CHARS;
    const cut = findCut(this.#expressions, text, this.#held.findEventEnd(end) || findTextEnd(text, end));
    // A match that is longer than the window is shown as far as it came.
    await this.#release(cut === 0 ? text.length : cut, shown);
  }

  async #release(end: number, shown: GenerationEvent[]): Promise<void> {
    const { text } = this.#held;
    // Denies what matches in the text that stays, too.
    maskText(this.#expressions, text);
    const original = text.slice(0, end);
    const masked = await this.#checker.maskCounted(original);
    await this.#askWebhooks();
    if (masked !== original) this.#hasMasked = true;
    shown.push(...this.#held.take(end, masked));
  }

  /** Shows a call whose arguments are complete, or cut off. */
  async #releaseCall(shown: GenerationEvent[]): Promise<void> {
    const events = this.#call;
    if (events.length === 0) return;
    this.#call = [];
    let fragment = "";
    for (const event of events) if (event.type === "tool-arguments") fragment += event.delta;
    const masked = await this.#checker.maskJson(fragment);
    await this.#askWebhooks();
    if (masked === fragment) {
      shown.push(...events);
      return;
    }
    for (const event of events) {
      if (event.type === "tool-call-end") shown.push({ ...event, type: "tool-arguments", delta: masked });
      if (event.type !== "tool-arguments") shown.push(event);
    }
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
