import type { Guardrail } from "../../core/config/guardrails.ts";
import { isObject } from "../../core/encoding/json.ts";
import { createDenial } from "./denial.ts";
import { maskText } from "./expressions.ts";
import { askWebhook, type WebhookAccess } from "./webhook.ts";

/** Checks texts that belong together, and masks them. */
export class TextChecker {
  readonly #rules: readonly Guardrail[];
  readonly #expressions: readonly Guardrail[];
  /** The masked texts, for the webhooks. */
  readonly #texts: string[] = [];
  #characters = 0;

  constructor(rules: readonly Guardrail[]) {
    this.#rules = rules;
    this.#expressions = rules.filter(({ type }) => type === "expressions");
  }

  /**
   * Returns a masked text.
   *
   * @throws GatewayError if a rule denies it
   */
  mask(text: string): string {
    this.count(text.length);
    return this.maskCounted(text);
  }

  /** The same for a text that was counted before. */
  maskCounted(text: string): string {
    const masked = maskText(this.#expressions, text);
    if (masked.trim() !== "") this.#texts.push(masked);
    return masked;
  }

  /**
   * Returns JSON text with masked strings. Text that is no JSON is masked as it is.
   *
   * @throws GatewayError if a rule denies it
   */
  maskJson(text: string): string {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.mask(text);
    }
    const masked = JSON.stringify(this.maskStrings(value));
    return masked === JSON.stringify(value) ? text : masked;
  }

  /** Returns a copy of a JSON value with masked strings, names of members included. */
  maskStrings(value: unknown): unknown {
    if (typeof value === "string") return this.mask(value);
    if (Array.isArray(value)) return value.map((item: unknown) => this.maskStrings(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        maskText(this.#expressions, name),
        this.maskStrings(member),
      ]),
    );
  }

  /** Counts characters for the rules of the type `size`. Throws if there are too many. */
  count(characters: number): void {
    this.#characters += characters;
    const exceeded = this.#rules.find(
      ({ type, max_chars }) => type === "size" && this.#characters > max_chars,
    );
    if (exceeded !== undefined) throw createDenial(exceeded);
  }

  /** Asks the webhooks about all texts so far, at the same time. Throws if one of them denies them. */
  async askWebhooks(access: WebhookAccess, signal: AbortSignal): Promise<void> {
    const input = this.#texts.splice(0);
    if (input.length === 0) return;
    const webhooks = this.#rules.filter(({ type }) => type === "webhook");
    await Promise.all(webhooks.map((rule) => askWebhook(access, rule, input, signal)));
  }
}
