import { isObject } from "../../../core/encoding/json.ts";

/** Fields whose member names the caller chooses, such as JSON schemas and arguments. */
const CALLER_DEFINED_FIELDS = new Set([
  ...["parameters", "parametersJsonSchema", "input_schema", "responseJsonSchema", "schema"],
  ...["args", "response", "input", "arguments"],
]);
/** Fields whose values are protocol constants of the drivers, or bytes. */
const PROTOCOL_FIELDS = new Set([
  ...["type", "role", "include", "model", "mode", "display", "responseMimeType", "thinkingLevel"],
  ...["data", "signature", "thoughtSignature", "encrypted_content", "image_url", "file_data"],
]);
/**
 * Text in quotes or brackets, dotted paths, and snake_case or camelCase names: what a rejection may have echoed from
 * the request.
 * A name starts only where no word character precedes it. Starting at each letter of a long word would take quadratic
 * time.
 */
export const ECHO_PATTERN =
  /(?<![\w\\])(["'`])(?:(?!\1).){1,300}\1(?!\w)|\[[^[\]]{1,300}\]|(?<!\w)\w+(?:\.\w+)+|(?<!\w)\w*(?:_|[a-z](?=[A-Z]))\w*/g;

/**
 * Removes possible echoes of the caller's input from a rejection: quoted texts and names that also occur as names
 * or texts of the caller in the request. Takes time linear in the length of both.
 */
export function redactEchoedInput(rejection: string, request: unknown): string {
  const rejectionWords = new Set(splitWords(rejection));
  const callerWords = new Set<string>();
  const names = new Set<string>();
  visitCallerTexts(request, false, (text) => {
    const words = splitWords(text).filter((word) => rejectionWords.has(word));
    for (const word of words) callerWords.add(word);
    if (/^\w+$/.test(text) && text !== "type") for (const word of words) names.add(word);
  });
  const isCallers = (text: string) => splitWords(text).every((word) => callerWords.has(word));
  const isName = (word: string) => splitWords(word).every((part) => names.has(part));
  const blank = (text: string): string =>
    /^\w+$/.test(text) && isCallers(text)
      ? ""
      : text.replace(ECHO_PATTERN, (part) => {
          if (isCallers(part)) return "";
          // A path: remove only the steps that are names of the caller.
          return /\s/.test(part) ? part : part.replace(/\w+/g, (word) => (isName(word) ? "" : word));
        });
  try {
    return JSON.stringify(
      JSON.parse(rejection, (_, value: unknown) => (typeof value === "string" ? blank(value) : value)),
    );
  } catch {
    return blank(rejection);
  }
}

/** Returns the words of a text, normalized: snake_case and camelCase forms of a word are equal. */
function splitWords(text: string): string[] {
  return (text.match(/\w+/g) ?? []).map((word) => word.replaceAll("_", "").toLowerCase());
}

/** Passes each text that the caller wrote in a request to `visit`. */
function visitCallerTexts(value: unknown, isFreeText: boolean, visit: (text: string) => void): void {
  if (typeof value === "string") visit(value);
  else if (Array.isArray(value)) for (const item of value) visitCallerTexts(item, isFreeText, visit);
  else if (isObject(value)) {
    const searches = !isFreeText && String(value["type"]).startsWith("web_search");
    for (const [key, member] of Object.entries(value)) {
      if (isFreeText) visit(key);
      else if (PROTOCOL_FIELDS.has(key) || member === "none" || (searches && key === "name")) continue;
      visitCallerTexts(member, isFreeText || (CALLER_DEFINED_FIELDS.has(key) && isObject(member)), visit);
    }
  }
}
