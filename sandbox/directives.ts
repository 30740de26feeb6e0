/** A `[[name]]` or `[[name:arg]]` in a prompt. */
export interface Directive {
  readonly name: string;
  /** Text after the colon, still escaped; null: no colon. */
  readonly arg: string | null;
}

const NAMES: ReadonlySet<string> = new Set([
  "big",
  "bytes",
  "call",
  "call-in-reasoning",
  "chunk",
  "citations",
  "comments",
  "content_filter",
  "crlf",
  "cut",
  "drift",
  "echo",
  "empty",
  "error",
  "expired",
  "garbage",
  "hang",
  "incomplete",
  "late",
  "length",
  "longline",
  "multiline",
  "nousage",
  "references",
  "reset",
  "say",
  "say64",
  "silent",
  "slow",
  "stall",
  "status",
  "text-and-call",
  "then",
  "think",
]);

/** The directives of a prompt, with helpers to read their arguments. */
export class Directives {
  readonly all: readonly Directive[];
  /** The prompt without its directives, trimmed. */
  readonly remainder: string;

  constructor(text: string) {
    const { found, remainder } = parse(text);
    this.all = found;
    this.remainder = remainder;
  }

  has(name: string): boolean {
    return this.all.some((directive) => directive.name === name);
  }

  /** Argument of the last directive with this name: null if it has none, undefined if the directive is missing. */
  lastArgument(name: string): string | null | undefined {
    return this.all.findLast((directive) => directive.name === name)?.arg;
  }

  /** Arguments of the last directive with this name, split at colons; undefined if the directive is missing. */
  lastArguments(name: string): string[] | undefined {
    const arg = this.lastArgument(name);
    return arg === undefined ? undefined : arg === null ? [] : arg.split(":");
  }

  /** Argument as a whole number ≥ 0; `fallback` if it is missing or invalid. */
  numberArgument(name: string, fallback: number): number | undefined {
    const arg = this.lastArgument(name);
    if (arg === undefined) return undefined;
    return arg !== null && /^\d{1,9}$/.test(arg) ? Number(arg) : fallback;
  }
}

/** Unescapes `\n`, `\r`, `\t`, `\\` and `\uXXXX`. Any other backslash stays. */
export function unescapeText(text: string): string {
  return text.replace(/\\(?:([nrt\\])|u([0-9a-fA-F]{4}))/g, (_match, letter?: string, hex?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return letter === "n" ? "\n" : letter === "r" ? "\r" : letter === "t" ? "\t" : "\\";
  });
}

function parse(text: string): { found: Directive[]; remainder: string } {
  const found: Directive[] = [];
  const opener = /\[\[([a-z][a-z0-9_-]*)(:|\]\])/g;
  let remainder = "";
  let from = 0;
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const [whole, name = "", separator] = match;
    if (!NAMES.has(name)) continue;
    let end = match.index + whole.length;
    let arg: string | null = null;
    if (separator === ":") {
      const close = name === "call" ? findCallEnd(text, end) : findTextEnd(text, end);
      if (close === -1) continue;
      arg = text.slice(end, close);
      end = close + 2;
    }
    found.push({ name, arg });
    remainder += text.slice(from, match.index);
    from = end;
    opener.lastIndex = end;
  }
  remainder += text.slice(from);
  return { found, remainder: remainder.trim() };
}

/** In a run of closing brackets the last two close the directive, so `[[say:a[1]]]` says `a[1]`. */
function findTextEnd(text: string, from: number): number {
  let close = text.indexOf("]]", from);
  if (close === -1) return -1;
  while (text[close + 2] === "]") close++;
  return close;
}

/** Arguments of a call are JSON, which may contain `]]`. The directive ends at the first `]]` where the JSON parses. */
function findCallEnd(text: string, from: number): number {
  const colon = text.indexOf(":", from);
  const plain = findTextEnd(text, from);
  if (colon === -1 || plain < colon) return plain;
  for (let close = text.indexOf("]]", colon); close !== -1; close = text.indexOf("]]", close + 1)) {
    if (isJson(text.slice(colon + 1, close))) return close;
  }
  return plain;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
