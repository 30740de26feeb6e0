import { isObject, type JsonObject, parseObject } from "../../core/encoding/json.ts";
import { MASK, maskSecrets } from "../../core/encoding/secret-masking.ts";
import type { LogFields } from "../../core/ports/context.ts";
import { readCount } from "../providers/json.ts";

/** How many characters of the answers the history keeps. */
const MAX_TRANSCRIPT_CHARS = 64 * 1024;

function parseEvent(text: string): JsonObject {
  try {
    return parseObject(text);
  } catch {
    // The other side reports what is no JSON.
    return {};
  }
}

/** What became of a message of the caller. */
export interface ClientEvent {
  readonly text: string;
  /** The caller's key is limited to certain models, and the message names another one. */
  readonly isForbidden: boolean;
}

/** Whether a value has a member that names a model. */
function namesModel(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(namesModel);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) =>
    name === "model" ? typeof member === "string" : namesModel(member),
  );
}

/**
 * Prepares a message of the caller: the session keeps the model that the caller may use. A key that is limited to certain
 * models must not name others, for example for the transcription of its speech.
 *
 * @param model the provider's name for the model; empty: the connection names none
 */
export function prepareClientEvent(text: string, model: string, isLimited: boolean): ClientEvent {
  // A name may be written with escapes.
  if (!text.includes("model") && !text.includes("\\u")) return { text, isForbidden: false };
  const event = parseEvent(text);
  if (Object.keys(event).length === 0) return { text, isForbidden: false };
  const session = isObject(event["session"]) ? { ...event["session"] } : null;
  const hasModel = session !== null && "model" in session && model !== "";
  if (hasModel) delete session["model"];
  const isForbidden = isLimited && namesModel({ ...event, ...(session === null ? {} : { session }) });
  // Written again, because parsers differ in which of two equal members they use.
  const kept = hasModel ? { ...event, session: { ...session, model } } : event;
  return { text: JSON.stringify(kept), isForbidden };
}

/** Collects usage and texts of the provider's events, and masks the account's secrets in its errors. */
export class ProviderEvents {
  /** The texts of the answers so far. */
  transcript = "";
  readonly #log: LogFields;
  readonly #secrets: readonly string[];

  constructor(log: LogFields, secrets: readonly string[]) {
    this.#log = log;
    this.#secrets = secrets;
  }

  /** Reads an event. Returns the text that the caller gets. */
  read(text: string): string {
    if (text.includes("response.done")) this.#readResponse(parseEvent(text));
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

  #count(usage: JsonObject): void {
    const log = this.#log;
    const details = isObject(usage["input_token_details"]) ? usage["input_token_details"] : {};
    log.promptTokens = (log.promptTokens ?? 0) + (readCount(usage["input_tokens"]) ?? 0);
    log.completionTokens = (log.completionTokens ?? 0) + (readCount(usage["output_tokens"]) ?? 0);
    log.cachedTokens = (log.cachedTokens ?? 0) + (readCount(details["cached_tokens"]) ?? 0);
  }
}
