import { concatBytes } from "../../core/encoding/bytes.ts";
import { maskSecrets } from "../../core/encoding/secret-masking.ts";

/** The longest line in which secrets are searched, in bytes. Longer lines are images or sound. */
const MAX_LINE_BYTES = 64 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const NONE = new Uint8Array();

/**
 * Masks the account's secrets in errors: in events of a stream, and in whole answers. A stream leaves in whole lines, except
 * long ones.
 */
export class ErrorMask {
  readonly #secrets: readonly string[];
  /** The beginning of an unfinished line. */
  #held: Uint8Array = NONE;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** Takes bytes of the stream, and returns those that can leave. */
  push(bytes: Uint8Array): Uint8Array {
    const all = concatBytes([this.#held, bytes]);
    const end = Math.max(all.lastIndexOf(LF), all.lastIndexOf(CR)) + 1;
    const isLong = all.length - end > MAX_LINE_BYTES;
    this.#held = isLong ? NONE : all.slice(end);
    return this.mask(isLong ? all : all.subarray(0, end));
  }

  /** Returns the rest of the stream. */
  finish(): Uint8Array {
    const rest = this.#held;
    this.#held = NONE;
    return this.mask(rest);
  }

  /** Returns whole lines or a whole answer without the secrets if they have an error, else unchanged. */
  mask(bytes: Uint8Array): Uint8Array {
    const text = new TextDecoder().decode(bytes);
    if (!text.includes("error")) return bytes;
    const masked = maskSecrets(text, this.#secrets);
    return masked === text ? bytes : new TextEncoder().encode(masked);
  }
}
