import { isObject } from "../encoding/json.ts";

/** What a caller writes as a whole: its members are named by the caller. */
const FREE = new Set([
  ...["parameters", "parametersJsonSchema", "input_schema", "responseJsonSchema", "schema"],
  ...["args", "response", "input", "arguments"],
]);
/** What drivers fill in with words of their protocol, or with bytes. */
const OWN = new Set([
  ...["type", "role", "include", "model", "mode", "display", "responseMimeType", "thinkingLevel"],
  ...["data", "signature", "thoughtSignature", "encrypted_content", "image_url", "file_data"],
]);
/**
 * What stands in quotes or brackets, and names of several words or of several steps. A name begins where no letter is before it: if the
 * search began at each letter of a long word, it would take the square of its length.
 */
export const REPEATED =
  /(?<![\w\\])(["'`])(?:(?!\1).){1,300}\1(?!\w)|\[[^[\]]{1,300}\]|(?<!\w)\w+(?:\.\w+)+|(?<!\w)\w*(?:_|[a-z](?=[A-Z]))\w*/g;

/**
 * A refusal without what it may only repeat of the caller's words: what it quotes, or writes as a name, and the request
 * holds as a name or text of the caller's. Takes time in proportion to both.
 */
export function withoutCallersWords(refusal: string, request: unknown): string {
  const repeated = new Set(wordsIn(refusal));
  const callers = new Set<string>();
  const names = new Set<string>();
  collect(request, false, (text) => {
    const words = wordsIn(text).filter((word) => repeated.has(word));
    for (const word of words) callers.add(word);
    if (/^\w+$/.test(text) && text !== "type") for (const word of words) names.add(word);
  });
  const isCallers = (text: string) => wordsIn(text).every((word) => callers.has(word));
  const isName = (word: string) => wordsIn(word).every((one) => names.has(one));
  const blank = (text: string): string =>
    /^\w+$/.test(text) && isCallers(text)
      ? ""
      : text.replace(REPEATED, (part) => {
          if (isCallers(part)) return "";
          // The steps of a path.
          return /\s/.test(part) ? part : part.replace(/\w+/g, (word) => (isName(word) ? "" : word));
        });
  try {
    return JSON.stringify(
      JSON.parse(refusal, (_, value: unknown) => (typeof value === "string" ? blank(value) : value)),
    );
  } catch {
    return blank(refusal);
  }
}

/** The words of a text; one that is written in several ways is the same. */
function wordsIn(text: string): string[] {
  return (text.match(/\w+/g) ?? []).map((word) => word.replaceAll("_", "").toLowerCase());
}

/** Hands over what the caller has written in a request. */
function collect(value: unknown, free: boolean, hand: (text: string) => void): void {
  if (typeof value === "string") hand(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, free, hand);
  else if (isObject(value)) {
    const searches = !free && String(value["type"]).startsWith("web_search");
    for (const [key, member] of Object.entries(value)) {
      if (free) hand(key);
      else if (OWN.has(key) || member === "none" || (searches && key === "name")) continue;
      collect(member, free || (FREE.has(key) && isObject(member)), hand);
    }
  }
}
