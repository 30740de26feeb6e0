import { toBase64 } from "./bytes.ts";

/** Replaces a secret. */
export const MASK = "[masked]";

/** A shorter secret could occur within ordinary words, so it is masked only within quotation marks. */
const MIN_SECRET = 8;
/** A shorter value is not treated as a secret. */
const MIN_QUOTED = 4;
/** Two quotation marks that are escaped twice. */
const MAX_QUOTES = 8;
/** The shortest beginning of a secret that is masked at the end of a cut text. */
const MIN_PARTIAL_MATCH = 6;

/**
 * Base64 encodes three bytes as four characters. So the encoded form of a secret depends on the number of bytes before it.
 */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const shifted = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // The first and the last character also hold bits of the neighbouring bytes.
    return toBase64(padded).slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [toBase64(bytes), ...shifted];
}

/** All forms of a secret that may occur: raw, in JSON, in a URL, and in base64 of either alphabet. */
function encodedForms(secret: string): string[] {
  const base64 = base64Forms(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    // A lone surrogate cannot be encoded in a URL.
    encodeURIComponent(secret.toWellFormed()),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET);
}

/** The length of the longest form of a secret that {@link maskSecrets} looks for, with its quotation marks. */
export function longestSecretForm(secrets: readonly string[]): number {
  const lengths = secrets.flatMap((secret) => encodedForms(secret).map(({ length }) => length));
  return Math.max(MIN_SECRET, ...lengths) + MAX_QUOTES;
}

/** Whether quotation marks enclose a part of a text. Both marks may be escaped in the same way. */
function isQuoted(text: string, start: number, end: number): boolean {
  const quote = text.charAt(start - 1);
  if (!/["'`]/.test(quote)) return false;
  let closing = end;
  while (text[closing] === "\\") closing += 1;
  return text[closing] === quote && text.endsWith(text.slice(end, closing), start - 1);
}

/**
 * The length of the longest proper prefix of `form` that `text` ends with, in linear time (Knuth-Morris-Pratt). 0 if too
 * short.
 */
function partialMatchLength(text: string, form: string): number {
  const tail = text.slice(1 - form.length);
  /** For each prefix of `form`: the length of its longest proper prefix that is also its suffix. */
  const prefixLengths = new Uint32Array(form.length);
  const extend = (start: number, next: string): number => {
    let length = start;
    while (length > 0 && form[length] !== next) length = prefixLengths[length - 1] ?? 0;
    return form[length] === next ? length + 1 : 0;
  };
  for (let at = 1; at < form.length; at += 1)
    prefixLengths[at] = extend(prefixLengths[at - 1] ?? 0, form.charAt(at));
  let length = 0;
  for (let at = 0; at < tail.length; at += 1) length = extend(length, tail.charAt(at));
  return length < MIN_PARTIAL_MATCH ? 0 : length;
}

/**
 * Masks secrets in a text in all their forms: also escaped for JSON or a URL, and within base64.
 *
 * @param isCut whether the text was cut: then the beginning of a secret at its end is masked too
 */
export function maskSecrets(text: string, secrets: readonly string[], isCut = false): string {
  let masked = text;
  // The longest first, because one secret may be part of another.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret.length < MIN_QUOTED) continue;
    if (secret.length < MIN_SECRET) {
      masked = masked.replaceAll(secret, (found, at: number, fullText: string) =>
        isQuoted(fullText, at, at + found.length) ? MASK : found,
      );
      continue;
    }
    for (const form of encodedForms(secret)) {
      masked = masked.replaceAll(form, MASK);
      const partialLength = isCut ? partialMatchLength(masked, form) : 0;
      if (partialLength > 0) masked = masked.slice(0, -partialLength) + MASK;
    }
  }
  return masked;
}
