import type { Usage } from "../../core/conversation/events.ts";
import { maxPlausibleTokens } from "../../core/conversation/tokens.ts";
import { concatBytes } from "../../core/encoding/bytes.ts";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { maskSecrets } from "../../core/encoding/secret-masking.ts";
import { ifDefined, readCount } from "../providers/json.ts";
import { isWhole } from "../providers/transport.ts";

/** How many bytes of an answer's beginning and end are kept. Large members, such as images, are between the small ones. */
const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 32 * 1024;

/** Longest `usage` object, in characters. */
const MAX_USAGE_CHARS = 4_000;

/** The largest plausible count of one answer. */
const MAX_COUNT = maxPlausibleTokens(0);

const USAGE_MEMBER = /"usage"\s{0,9}:\s{0,9}(?=\{)/g;
const SEARCH_UNITS = /"search_units"\s{0,9}:\s{0,9}(\d{1,12})/g;

/** What a provider states about the usage of a request. */
export interface StatedUsage {
  /** Null: it states no tokens. */
  readonly tokens: Usage | null;
  /** Whether stated counts were too large to be true. */
  readonly isImplausible: boolean;
  /** Whether it states any usage. */
  readonly isStated: boolean;
  readonly audioSeconds?: number;
  readonly searchUnits?: number;
}

/** Whether an answer of this type is text. */
export function isText(mediaType: string): boolean {
  return isWhole(mediaType) || mediaType.startsWith("text/");
}

/** Copies the beginning and the end of an answer that passes through, for history and usage. */
export class AnswerCopy {
  readonly #mediaType: string;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  readonly #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #size = 0;

  constructor(mediaType: string) {
    this.#mediaType = mediaType;
  }

  /** Takes the next bytes. They must not change afterwards. */
  push(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#headBytes < HEAD_BYTES) {
      const kept = bytes.slice(0, HEAD_BYTES - this.#headBytes);
      this.#head.push(kept);
      this.#headBytes += kept.length;
    }
    // Also a short piece may have a large buffer.
    this.#tail.push(bytes.slice(-TAIL_BYTES));
    this.#tailBytes += Math.min(bytes.length, TAIL_BYTES);
    for (;;) {
      const [oldest] = this.#tail;
      if (oldest === undefined || this.#tailBytes - oldest.length < TAIL_BYTES) return;
      this.#tail.shift();
      this.#tailBytes -= oldest.length;
    }
  }

  /** The beginning of a text, without secrets. Of other answers, the type and the size. */
  describe(secrets: readonly string[]): string {
    if (!isText(this.#mediaType)) return `[${this.#mediaType || "unknown type"}, ${this.#size} bytes]`;
    const isCut = this.#size > this.#headBytes;
    return maskSecrets(decode(this.#head), secrets, isCut) + (isCut ? "…" : "");
  }

  /** The usage that the answer states. In a stream the last event counts. */
  readUsage(): StatedUsage {
    if (!isWhole(this.#mediaType) && this.#mediaType !== "text/event-stream") return NOT_STATED;
    const tail = decode(this.#tail);
    const usage = findLastUsage(tail) ?? findLastUsage(decode(this.#head));
    const units = [...tail.matchAll(SEARCH_UNITS)].at(-1)?.[1];
    const stated = toStatedUsage(usage ?? {});
    return units === undefined ? stated : { ...stated, isStated: true, searchUnits: Number(units) };
  }
}

const NOT_STATED: StatedUsage = { tokens: null, isImplausible: false, isStated: false };

function decode(pieces: readonly Uint8Array[]): string {
  return new TextDecoder().decode(concatBytes(pieces));
}

function findLastUsage(text: string): JsonObject | null {
  const match = [...text.matchAll(USAGE_MEMBER)].at(-1);
  if (match === undefined) return null;
  const start = match.index + match[0].length;
  const limit = start + MAX_USAGE_CHARS;
  for (let end = text.indexOf("}", start); end !== -1 && end < limit; end = text.indexOf("}", end + 1)) {
    try {
      const value: unknown = JSON.parse(text.slice(start, end + 1));
      if (isObject(value)) return value;
    } catch {
      // An inner object ends here.
    }
  }
  return null;
}

/** Reads the counts of a `usage` object. Parts are at most the whole. */
export function toStatedUsage(usage: JsonObject): StatedUsage {
  const seconds = usage["seconds"];
  const isTooLong = typeof seconds === "number" && seconds > MAX_COUNT;
  const isDuration = typeof seconds === "number" && seconds >= 0 && !isTooLong;
  const audio = isDuration ? { audioSeconds: seconds } : {};
  const stated = readCount(usage["input_tokens"]) ?? readCount(usage["prompt_tokens"]);
  const answer = readCount(usage["output_tokens"]) ?? readCount(usage["completion_tokens"]);
  const prompt = stated ?? (answer === undefined ? readCount(usage["total_tokens"]) : undefined);
  if (prompt === undefined && answer === undefined)
    return { tokens: null, isImplausible: isTooLong, isStated: isDuration, ...audio };
  const { input_tokens_details: details, input_token_details: otherDetails = details } = usage;
  const { output_tokens_details: answerDetails, output_token_details: otherAnswerDetails = answerDetails } =
    usage;
  const tokens = {
    prompt: prompt ?? 0,
    completion: answer ?? 0,
    reasoning: 0,
    ...ifDefined("cached", readPart(otherDetails, "cached_tokens", prompt)),
    ...ifDefined("audioInput", readPart(otherDetails, "audio_tokens", prompt)),
    ...ifDefined("audioOutput", readPart(otherAnswerDetails, "audio_tokens", answer)),
    ...ifDefined("imageInput", readPart(otherDetails, "image_tokens", prompt)),
    ...ifDefined("imageOutput", readPart(otherAnswerDetails, "image_tokens", answer)),
  };
  const isImplausible = Math.max(tokens.prompt, tokens.completion) > MAX_COUNT;
  return { tokens: isImplausible ? null : tokens, isImplausible, isStated: true, ...audio };
}

function readPart(details: unknown, name: string, whole = 0): number | undefined {
  const part = isObject(details) ? readCount(details[name]) : undefined;
  return part === undefined ? undefined : Math.min(part, whole);
}
