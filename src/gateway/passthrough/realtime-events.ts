import type { Usage } from "../../core/conversation/events.ts";
import { addUsage, addUsageDetails } from "../../core/conversation/usage-details.ts";
import { isObject, type JsonObject, parseObject, parseObjectExactly } from "../../core/encoding/json.ts";
import { MASK, maskSecrets } from "../../core/encoding/secret-masking.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { reserveForJson } from "../../core/http/json-text.ts";
import type { MemoryReservation } from "../../core/http/memory-budget.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { toStatedUsage } from "./answer-copy.ts";

/** How many characters of the answers the history keeps. */
const MAX_TRANSCRIPT_CHARS = 64 * 1024;

/** What a message must have to name a model; names may be written with escapes, and some parsers ignore case. */
const MAY_NAME_MODEL = /model|\\[ux]/i;

/** Whether a value has a member that names a model, in any case. `replaced`: the object whose `model` is replaced. */
function namesModel(value: unknown, replaced: JsonObject | null): boolean {
  if (Array.isArray(value)) return value.some((member) => namesModel(member, replaced));
  if (!isObject(value)) return false;
  return Object.keys(value).some((name) => {
    if (name === "model" && value === replaced) return false;
    const member = value[name];
    return (name.toLowerCase() === "model" && typeof member === "string") || namesModel(member, replaced);
  });
}

/** How the caller's messages are prepared. */
export interface ClientEventOptions {
  /** Reserves the memory of a message while it is parsed. */
  readonly memory: MemoryReservation;
  /** The provider's name for the model; empty: the connection names none. */
  readonly model: string;
  /** The caller's key is limited to certain models. */
  readonly isLimited: boolean;
}

/**
 * Prepares a message of the caller: the session keeps the model that the caller may use. A key that is limited to certain
 * models must not name others, for example for the transcription of its speech. Returns the text for the provider.
 *
 * @throws GatewayError 400 if nested too deeply or not a JSON object, 403 for another model, 413 and 503 if the memory
 *   budget is exhausted
 */
export function prepareClientEvent(text: string, options: ClientEventOptions): string {
  if (!MAY_NAME_MODEL.test(text)) return text;
  const reserved = reserveForJson(text, options.memory);
  try {
    return rewriteEvent(text, options);
  } finally {
    options.memory.releaseBytes(reserved);
  }
}

function rewriteEvent(text: string, { model, isLimited }: ClientEventOptions): string {
  const event = parseObjectExactly(text);
  if (Object.keys(event).length === 0) {
    // The provider's parser may accept what this one does not.
    if (isLimited || model !== "") throw invalidRequest("a message must be a JSON object");
    return text;
  }
  const session = isObject(event["session"]) ? event["session"] : null;
  const replaced = session !== null && "model" in session && model !== "" ? session : null;
  if (isLimited && namesModel(event, replaced)) {
    const message = "this API key is limited to certain models, and the session names another one";
    throw new GatewayError(403, message, { code: "permission_denied", param: "session" });
  }
  // Written again, because parsers differ in which of two equal members they use.
  return JSON.stringify(replaced === null ? event : { ...event, session: { ...replaced, model } });
}

/** Collects usage and texts of the provider's events, and masks the account's secrets in its errors. */
export class ProviderEvents {
  /** The texts of the answers so far. */
  transcript = "";
  /** The sum of what the answers used so far. */
  usage: Usage = { prompt: 0, completion: 0, reasoning: 0 };
  readonly #facts: RequestFacts;
  readonly #secrets: readonly string[];
  readonly #memory: MemoryReservation;

  /** @param memory reserves the memory of an event while it is parsed */
  constructor(facts: RequestFacts, secrets: readonly string[], memory: MemoryReservation) {
    this.#facts = facts;
    this.#secrets = secrets;
    this.#memory = memory;
  }

  /**
   * Reads an event. Returns the text that the caller gets.
   *
   * @throws GatewayError if the event is nested too deeply, or if the memory budget is exhausted
   */
  read(text: string): string {
    if (text.includes("response.done")) {
      const reserved = reserveForJson(text, this.#memory);
      try {
        this.#readResponse(parseObject(text));
      } finally {
        this.#memory.releaseBytes(reserved);
      }
    }
    if (!text.includes("error")) return text;
    const masked = maskSecrets(text, this.#secrets);
    return masked.includes(MASK) ? masked : text;
  }

  #readResponse({ type, response }: JsonObject): void {
    if (type !== "response.done" || !isObject(response)) return;
    const { usage, output } = response;
    if (isObject(usage)) this.#count(usage);
    if (!Array.isArray(output)) return;
    for (const item of output) {
      const content: unknown = isObject(item) ? item["content"] : undefined;
      if (!Array.isArray(content)) continue;
      for (const part of content) {
        const said: unknown = isObject(part) ? (part["transcript"] ?? part["text"]) : undefined;
        if (typeof said !== "string" || this.transcript.length > MAX_TRANSCRIPT_CHARS) continue;
        this.transcript += `${said}\n`;
      }
    }
  }

  #count(stated: JsonObject): void {
    const facts = this.#facts;
    const { tokens, isImplausible } = toStatedUsage(stated);
    if (isImplausible) facts.usageRefused = true;
    if (tokens === null) return;
    this.usage = addUsage(this.usage, tokens);
    facts.promptTokens = this.usage.prompt;
    facts.completionTokens = this.usage.completion;
    addUsageDetails(facts, tokens);
  }
}
