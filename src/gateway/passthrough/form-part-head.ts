import { getPartHeader } from "../files/multipart-file.ts";

/** The names and the media type that the headers of a part state. */
export interface FormPartHead {
  readonly name: string;
  readonly filename?: string;
  /** The media type with its parameters, as stated. */
  readonly mediaType?: string;
}

/** The value of a header, and its parameters by their names in lower case. */
interface HeaderValue {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const VALUE = /[^;"]*/y;
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"\s*|([^;"]*))/y;
/** Parsers of forms take only these two characters as escaped, because file names of Windows have backslashes. */
const ESCAPED = /\\(["\\])/g;
/** A text with its character set, `UTF-8''na%C3%AFve` (RFC 8187). */
const EXTENDED = /^([^']*)'[^']*'(.*)$/;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Parses a header such as `form-data; name="a"`. Null: it is broken. */
function parseHeaderValue(text: string): HeaderValue | null {
  VALUE.lastIndex = 0;
  const value = VALUE.exec(text)?.[0] ?? "";
  const parameters = new Map<string, string>();
  let at = value.length;
  while (at < text.length && text.slice(at).trim() !== ";") {
    PARAMETER.lastIndex = at;
    const [all, name = "", quoted, plain = ""] = PARAMETER.exec(text) ?? [];
    if (all === undefined) return null;
    parameters.set(name.toLowerCase(), quoted?.replace(ESCAPED, "$1") ?? plain.trim());
    at += all.length;
  }
  return { value: value.trim().toLowerCase(), parameters };
}

/** Decodes text whose characters are bytes. Throws a RangeError for an unknown character set. */
const decode = (binary: string, charset = "utf-8"): string =>
  new TextDecoder(charset).decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));

/** Decodes a text with its character set. Undefined: it is broken, or the character set is unknown. */
function decodeExtended(text: string): string | undefined {
  const [, charset = "", encoded = ""] = EXTENDED.exec(text) ?? [];
  const binary = encoded.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    return decode(binary, charset);
  } catch {
    return undefined;
  }
}

/**
 * Reads the headers of a part of a form (RFC 7578, section 4.2). Null: they do not name the part, or are broken. Readers
 * would disagree about such a part, or leave it out.
 */
export function parseFormPartHead(headers: object): FormPartHead | null {
  const disposition = parseHeaderValue(getPartHeader(headers, "content-disposition") ?? "");
  if (disposition?.value !== "form-data") return null;
  const { parameters } = disposition;
  const [name, plain, extended] = ["name", "filename", "filename*"].map((key) => parameters.get(key));
  const filename = extended === undefined ? plain && decode(plain) : decodeExtended(extended);
  if (name === undefined || (extended !== undefined && filename === undefined)) return null;
  const decoded = decode(name);
  if (CONTROL_CHARACTER.test(decoded + (filename ?? ""))) return null;
  const mediaType = getPartHeader(headers, "content-type");
  return {
    name: decoded,
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined || mediaType === "" ? {} : { mediaType }),
  };
}

/** The media type without its parameters, in lower case, and its character set. */
export function splitMediaType(mediaType: string): { readonly type: string; readonly charset: string } {
  const parsed = parseHeaderValue(mediaType);
  const [type = ""] = mediaType.split(";", 1);
  return { type: type.trim().toLowerCase(), charset: parsed?.parameters.get("charset") ?? "utf-8" };
}
