import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import { isObject, parseExactly } from "../../core/encoding/json.ts";
import { removeSpaces } from "../../core/encoding/json-splice.ts";
import { Breaks } from "./breaks.ts";
import { createDenial, createSizeDenial } from "./denial.ts";
import { findMatchingRule, maskLongText } from "./expressions.ts";
import { askWebhook, type WebhookAccess } from "./webhook.ts";

/** What a text counts at least towards the most that is checked: short texts cost time, too. */
const MIN_COUNTED_CHARACTERS = 20;

/** Limits of kinds of integers: libraries write them into schemas, and they tell nothing. */
const INTEGER_LIMITS: ReadonlySet<number> = new Set(
  [31, 32, 53, 63, 64].flatMap((bits) => [2 ** bits, 2 ** bits - 1]),
);

/** Checks texts that belong together, and masks them. */
export class TextChecker {
  readonly #rules: readonly Guardrail[];
  readonly #expressions: readonly Guardrail[];
  readonly #maxCharacters: number;
  readonly #breaks = new Breaks();
  /** The masked texts, for the webhooks. */
  readonly #texts = new Set<string>();
  #characters = 0;
  /** The characters with what short texts count. */
  #counted = 0;

  /** @param maxCharacters the most that is checked: more is denied */
  constructor(rules: readonly Guardrail[], maxCharacters = Number.POSITIVE_INFINITY) {
    this.#rules = rules;
    this.#expressions = rules.filter(({ type }) => type === "expressions");
    this.#maxCharacters = maxCharacters;
  }

  /**
   * Returns a masked text.
   *
   * @throws GatewayError if a rule denies it
   */
  mask(text: string): Promise<string> {
    this.count(text.length);
    return this.maskCounted(text);
  }

  /**
   * The same for a text that was counted before.
   *
   * @param context the end of the text before it, which was checked
   */
  async maskCounted(text: string, context = ""): Promise<string> {
    if (text === "") return text;
    const masked = await maskLongText(this.#expressions, text, this.#breaks, context);
    if (masked.trim() !== "") this.#texts.add(context + masked);
    return masked;
  }

  /**
   * Returns JSON text with masked strings. Text that is no JSON is masked as it is. What parsing loses, such as the first of
   * two members with the same name, is not in the result, because it was not checked.
   *
   * @throws GatewayError if a rule denies it
   */
  async maskJson(text: string): Promise<string> {
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch {
      return this.mask(text);
    }
    const masked = JSON.stringify(await this.maskStrings(value));
    return masked === removeSpaces(text) ? text : masked;
  }

  /**
   * Returns a copy of a JSON value with masked strings, names of members included. Numbers cannot be masked.
   *
   * @throws GatewayError if a rule denies it, or would mask a number
   */
  async maskStrings(value: unknown): Promise<unknown> {
    if (typeof value === "string") return this.mask(value);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await this.maskStrings(item));
      return items;
    }
    if (typeof value === "number" || JSON.isRawJSON(value)) await this.rejectMatches(value);
    if (!isObject(value) || JSON.isRawJSON(value)) return value;
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value))
      members.push([await this.mask(name), await this.maskStrings(member)]);
    return Object.fromEntries(members);
  }

  /**
   * Checks the strings and numbers in a value that would not work if they were masked, such as names: a match denies
   * the request.
   *
   * @throws GatewayError if a rule denies one of them, or would mask it
   */
  async rejectMatches(value: unknown): Promise<void> {
    if (typeof value === "string") {
      const rule = await this.#findMatch(value);
      if (rule !== undefined) throw createDenial(rule);
    } else if (typeof value === "number" || JSON.isRawJSON(value)) {
      const written = typeof value === "number" ? String(value) : value.rawJSON;
      const number = Number(written);
      if (INTEGER_LIMITS.has(Math.abs(number))) return;
      // The same number has several notations: 4e3 is 4000.
      for (const digits of new Set([written, String(number)])) await this.rejectMatches(digits);
    } else if (Array.isArray(value)) {
      for (const item of value) await this.rejectMatches(item);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        await this.rejectMatches(name);
        await this.rejectMatches(member);
      }
    }
  }

  /** Whether an expression matches a copy of a text: it does not count, and webhooks do not get it. */
  async matchesCopy(text: string): Promise<boolean> {
    await this.#breaks.after(text.length);
    return findMatchingRule(this.#expressions, text) !== undefined;
  }

  /**
   * Whether an expression matches an id. Broad expressions match random ids, which are no texts. So such an id does not
   * deny the request or the answer: it is replaced, and its text reaches no reader.
   */
  async matchesId(id: string): Promise<boolean> {
    return (await this.#findMatch(id)) !== undefined;
  }

  /** The rule whose expression matches a text. A text without a match is kept for the webhooks. */
  async #findMatch(text: string): Promise<Guardrail | undefined> {
    this.count(text.length);
    if (text === "") return undefined;
    for (const rule of this.#expressions) {
      if (findMatchingRule([rule], text) !== undefined) return rule;
      await this.#breaks.after(text.length);
    }
    if (text.trim() !== "") this.#texts.add(text);
    return undefined;
  }

  /** Counts the characters of a text. Throws if there are too many for a rule of the type `size`, or to be checked. */
  count(characters: number): void {
    this.#characters += characters;
    this.#counted += Math.max(characters, MIN_COUNTED_CHARACTERS);
    const exceeded = this.#rules.find(
      ({ type, max_chars }) => type === "size" && this.#characters > max_chars,
    );
    if (exceeded !== undefined) throw createDenial(exceeded);
    if (this.#counted > this.#maxCharacters) throw createSizeDenial(this.#maxCharacters);
  }

  /** Asks the webhooks about all texts so far, at the same time. Throws if one of them denies them. */
  async askWebhooks(access: WebhookAccess, signal: AbortSignal): Promise<void> {
    const input = [...this.#texts];
    this.#texts.clear();
    if (input.length === 0) return;
    const webhooks = this.#rules.filter(({ type }) => type === "webhook");
    await Promise.all(webhooks.map((rule) => askWebhook(access, rule, input, signal)));
  }
}
