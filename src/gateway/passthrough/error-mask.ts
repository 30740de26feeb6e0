import { concatBytes } from "../../core/encoding/bytes.ts";
import { longestSecretForm, maskSecrets } from "../../core/encoding/secret-masking.ts";

/** The longest line that is held as a whole, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const NONE = new Uint8Array();
/** UTF-8 has at most three bytes for each UTF-16 unit, and at most three bytes after the first one of a character. */
const UTF8_BYTES = 3;

/** The beginning of the last, unfinished line. */
function findLastLine(bytes: Uint8Array): number {
  return Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
}

/** Where the character at a position begins. In bytes that are no UTF-8: at most three bytes before it. */
function findCharacter(bytes: Uint8Array, position: number): number {
  for (let at = position; at > position - UTF8_BYTES && at > 0; at -= 1)
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  return Math.max(0, position - UTF8_BYTES);
}

/**
 * Masks the account's secrets in errors: in events of a stream, and in whole answers. Events leave in whole lines. Of a longer
 * line, and of a whole answer that is pushed in pieces, only the bytes wait that may be the beginning of a secret.
 */
export class ErrorMask {
  readonly #secrets: readonly string[];
  readonly #isEventStream: boolean;
  /** How many bytes at the end may be the beginning of a secret; null: not computed yet, because few answers need it. */
  #overlap: number | null = null;
  /** Bytes that wait for the next ones. */
  #held: Uint8Array = NONE;
  /** Whether the line is too long to be held as a whole. */
  #isLong: boolean;
  /** Whether the line or the answer has an error. */
  #hasError = false;

  constructor(secrets: readonly string[], isEventStream: boolean) {
    this.#secrets = secrets;
    this.#isEventStream = isEventStream;
    this.#isLong = !isEventStream;
  }

  /** Takes the next bytes, and returns those that can leave. */
  push(bytes: Uint8Array): Uint8Array {
    const all = concatBytes([this.#held, bytes]);
    const lastLine = this.#isEventStream ? findLastLine(all) : 0;
    if (lastLine > 0) this.#isLong = false;
    this.#isLong ||= all.length - lastLine > MAX_LINE_BYTES;
    if (!this.#isLong) {
      this.#held = all.slice(lastLine);
      const lines = this.mask(all.subarray(0, lastLine));
      if (lastLine > 0) this.#hasError = false;
      return lines;
    }
    this.#overlap ??= longestSecretForm(this.#secrets) * UTF8_BYTES;
    // The last character may be a part of one, which a decoder would replace.
    const lastCharacter = findCharacter(all, all.length - 1);
    const masked = this.mask(all.subarray(0, lastCharacter));
    const end = findCharacter(masked, Math.max(0, masked.length - this.#overlap));
    this.#held = concatBytes([masked.subarray(end), all.subarray(lastCharacter)]);
    return masked.subarray(0, end);
  }

  /** Returns the rest. */
  finish(): Uint8Array {
    const rest = this.#held;
    this.#held = NONE;
    return this.mask(rest);
  }

  /** Returns whole lines or a whole answer without the secrets if they have an error, else unchanged. */
  mask(bytes: Uint8Array): Uint8Array {
    const text = new TextDecoder().decode(bytes);
    this.#hasError ||= text.includes("error");
    if (!this.#hasError) return bytes;
    const masked = maskSecrets(text, this.#secrets);
    return masked === text ? bytes : new TextEncoder().encode(masked);
  }
}
