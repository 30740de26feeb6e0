import { toBase64 } from "./bytes.ts";

/** What stands in for a secret. */
export const MASK = "[masked]";

/** A shorter secret would be found in innocent words: it is taken out only where quotation marks hold it. */
const MIN_SECRET = 8;
/** One that is shorter than this is none. */
const MIN_QUOTED = 4;
/** What of a secret may stand at the end of a text that was cut. */
const MIN_START = 6;

/** Base64 turns three bytes into four characters: what it makes of a secret depends on how many bytes precede it. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const within = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // The characters at either end hold bits of the neighbours as well.
    return toBase64(padded).slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [toBase64(bytes), ...within];
}

/** A secret as it may come back: as it is, within JSON, in an address, and within base64 of either alphabet. */
function formsOf(secret: string): string[] {
  const base64 = base64Forms(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    // A lone surrogate has no form in an address.
    encodeURIComponent(secret.toWellFormed()),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET);
}

/** Whether quotation marks hold a part of a text, which may be escaped in the same way on both sides. */
function isQuoted(text: string, start: number, end: number): boolean {
  const mark = text.charAt(start - 1);
  if (!/["'`]/.test(mark)) return false;
  let close = end;
  while (text[close] === "\\") close += 1;
  return text[close] === mark && text.endsWith(text.slice(end, close), start - 1);
}

/** How much of `form`'s start, which is not the whole of it, `text` ends with: in linear time (Knuth, Morris and Pratt). */
function startAtEnd(text: string, form: string): number {
  const end = text.slice(1 - form.length);
  /** For each start of `form`: how long its longest shorter start is that it also ends with. */
  const borders = new Uint32Array(form.length);
  const longer = (start: number, next: string): number => {
    let length = start;
    while (length > 0 && form[length] !== next) length = borders[length - 1] ?? 0;
    return form[length] === next ? length + 1 : 0;
  };
  for (let at = 1; at < form.length; at += 1) borders[at] = longer(borders[at - 1] ?? 0, form.charAt(at));
  let length = 0;
  for (let at = 0; at < end.length; at += 1) length = longer(length, end.charAt(at));
  return length < MIN_START ? 0 : length;
}

/**
 * A text without secrets, in whatever form somebody repeats them: also escaped for JSON or an address, and within base64.
 *
 * @param cut whether the text was cut: the beginning of a secret at its end is taken out as well
 */
export function withoutSecrets(text: string, secrets: readonly string[], cut = false): string {
  let masked = text;
  // The longest first: one may be part of another.
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret.length < MIN_QUOTED) continue;
    if (secret.length < MIN_SECRET) {
      masked = masked.replaceAll(secret, (found, at: number, whole: string) =>
        isQuoted(whole, at, at + found.length) ? MASK : found,
      );
      continue;
    }
    for (const form of formsOf(secret)) {
      masked = masked.replaceAll(form, MASK);
      const rest = cut ? startAtEnd(masked, form) : 0;
      if (rest > 0) masked = masked.slice(0, -rest) + MASK;
    }
  }
  return masked;
}
