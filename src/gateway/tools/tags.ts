import { foldToAscii } from "./characters.ts";

/** The three tags of the markup (docs/contract.md, tool rule 1). */
export type TagKind = "tool_calls" | "invoke" | "parameter";

/** A complete tag. */
export interface Tag {
  kind: TagKind;
  isClosing: boolean;
  /** `<…/>` */
  isSelfClosing: boolean;
  /** The trimmed value of the attribute `name`; undefined when there is none. */
  name: string | undefined;
  /** Whether the tag has the attribute `string="true"`. */
  isString: boolean;
  /** Whether it begins with `<<`. The first `<` may belong to the text before. */
  startsWithTwoOpeners: boolean;
  /** Letters and digits of the protocol shell around the local name, in lower case: `tcml` for `<|TCML|invoke>`. */
  shell: string;
  /** Index after the tag. */
  end: number;
}

/** `partial`: the text ends here, and its end may still become a tag. `none`: it is not a tag. */
export type TagReading = Tag | "partial" | "none";

/** Most `<` at the beginning of a tag. */
export const MAX_OPENERS = 4;
/** A tag's local name must end within this many characters. */
const MAX_SHELL = 56;
const MAX_SPACES = 8;
/** Characters that may follow an attribute value without quotes. */
const VALUE_TRAILERS = `"'”’|｜/`;
const LOCAL = /tool[_\- ]?calls|invoke|parameter/i;

const HEAD =
  /^(?<shell>.*?)(?<local>tool(?<joint>[_\- ]?)calls|invoke|parameter)(?:(?<tail>[^a-z0-9_]*)|(?<gap>[^a-z0-9_]*?)(?<attribute>[a-z][a-z0-9_\-|]*) *=)$/;
const KNOWN_SHELL = /^[dtcmls]*$/;

/** Whether a shell is one of the markup itself. Foreign elements may end in the same local name. */
export function isOwnShell(shell: string): boolean {
  return KNOWN_SHELL.test(shell);
}

/** The part of a tag before its first attribute value. */
interface Head {
  kind: TagKind;
  close: boolean;
  /** See `Tag.shell`. */
  shell: string;
  /** The name of the first attribute. */
  attribute: string | undefined;
  /** Whether a slash follows the local name. */
  empty: boolean;
  /** Whether a bar follows the local name: such a tag may lack its `>`. */
  piped: boolean;
}

function readHead(folded: string): Head | undefined {
  const groups = HEAD.exec(folded.toLowerCase())?.groups;
  if (!groups) return undefined;
  const { shell = "", local = "", joint: separator, tail = "", gap, attribute } = groups;
  if (gap === "" && attribute !== "name") return undefined;
  if (shell.startsWith("|--")) return undefined;
  const letters = shell.replace(/[^a-z0-9]/g, "");
  if (letters === "antml") return undefined;
  if (separator !== undefined && separator !== "_") {
    const pascal = separator === "" && folded[shell.length + 4] === "C";
    const separated = /[^a-z0-9/ ]/.test(shell) || (letters !== "" && /[^a-z0-9]$/.test(shell));
    const joined = letters !== "" && isOwnShell(letters);
    if (!pascal && !separated && !joined) return undefined;
  }
  return {
    kind: local === "invoke" || local === "parameter" ? local : "tool_calls",
    close: shell.includes("/"),
    shell: letters,
    attribute,
    empty: tail.includes("/"),
    piped: tail.includes("|"),
  };
}

function unescapeAttribute(value: string): string {
  return value
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim();
}

/** The text range that one tag is read from. */
interface Span {
  source: string;
  at: number;
  /** The tag must end before this index. */
  stop: number;
  /** Whether the range ends because the text ends, not because of the length limit. */
  open: boolean;
  /** See `Tag.startsWithTwoOpeners`. */
  doubled: boolean;
}

function foldAt(source: string, index: number): string {
  return foldToAscii(source.codePointAt(index) ?? 0);
}

function getUnitLength(source: string, index: number): number {
  return (source.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function createTag(
  span: Span,
  head: Head,
  rest: Pick<Tag, "name" | "isString" | "isSelfClosing" | "end">,
): Tag {
  return {
    kind: head.kind,
    isClosing: head.close,
    shell: head.shell,
    startsWithTwoOpeners: span.doubled,
    ...rest,
  };
}

function createTagWithoutAttributes(span: Span, head: Head, end: number): Tag {
  return createTag(span, head, { name: undefined, isString: false, isSelfClosing: head.empty, end });
}

/** Reads one attribute value. Returns it with the index after it. */
function readValue(
  span: Span,
  from: number,
): { value: string; end: number; slash: boolean } | "partial" | "none" {
  const { source, stop } = span;
  let index = from;
  while (index < stop && /^[ \n]?$/.test(foldAt(source, index))) index++;
  const start = index;
  const quote = index < stop ? foldAt(source, index) : "";
  const quoted = quote === '"' || quote === "'";
  if (quoted) index++;
  for (; index < stop; index += getUnitLength(source, index)) {
    const folded = foldAt(source, index);
    if (quoted && folded === quote)
      return { value: source.slice(start + 1, index), end: index + 1, slash: false };
    if (folded === "<" || (quoted && folded === "\n")) return "none";
    if (!quoted && (folded === ">" || folded === " " || folded === "\n")) {
      const raw = source.slice(start, index);
      let last = raw.length;
      while (VALUE_TRAILERS.includes(raw.charAt(last - 1)) && last > 0) last--;
      const value = raw.slice(0, last);
      return { value, end: index, slash: raw.endsWith("/") };
    }
  }
  return span.open ? "partial" : "none";
}

/** Reads the attributes after the first `=` to the end of the tag. */
function readAttributes(span: Span, head: Head, from: number): TagReading {
  const { source, stop } = span;
  let attribute = head.attribute ?? "";
  let name: string | undefined;
  let verbatim = false;
  let index = from;
  for (;;) {
    const reading = readValue(span, index);
    if (typeof reading === "string") return reading;
    if (/(^|\|)name$/.test(attribute)) name ??= unescapeAttribute(reading.value);
    if (attribute === "string") verbatim = reading.value.trim().toLowerCase() === "true";
    index = reading.end;
    let empty = reading.slash;
    let piped = false;
    attribute = "";
    for (; index < stop; index += getUnitLength(source, index)) {
      const folded = foldAt(source, index);
      if (folded === ">")
        return attribute === ""
          ? createTag(span, head, { name, isString: verbatim, isSelfClosing: empty, end: index + 1 })
          : "none";
      if (folded === "<")
        return piped
          ? createTag(span, head, { name, isString: verbatim, isSelfClosing: empty, end: index })
          : "none";
      if (folded === "=" && attribute !== "") break;
      if (/^[A-Za-z0-9_]$/.test(folded)) attribute += folded.toLowerCase();
      else if (folded === "/") empty = true;
      else if (folded === "|") piped = true;
      else if (!/^[ \n-]?$/.test(folded)) return "none";
    }
    if (index >= stop) {
      if (span.open) return "partial";
      return piped && stop === source.length
        ? createTag(span, head, { name, isString: verbatim, isSelfClosing: empty, end: stop })
        : "none";
    }
    index++;
  }
}

const LETTER = 1;
const OTHER = 2;
const SPACE = 3;
const OPENS = 4;
const ENDS = 5;
const FORBIDDEN = 6;

/** The meaning of every ASCII unit in the head of a tag. */
const HEAD_CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const folded = foldToAscii(code);
  if (/[a-z]/i.test(folded)) return LETTER;
  if (folded === " ") return SPACE;
  if (folded === "<") return OPENS;
  if (/[>=\n]/.test(folded)) return ENDS;
  return /["'[\]~]/.test(folded) ? FORBIDDEN : OTHER;
});

const toLetterMask = (word: string): number =>
  [...word].reduce((mask, char) => mask | (1 << (char.charCodeAt(0) & 31)), 0);
const LOCAL_LETTERS = [toLetterMask("toolcalls"), toLetterMask("invoke"), toLetterMask("parameter")];

function mayHoldLocal(mask: number): boolean {
  for (const letters of LOCAL_LETTERS) if ((mask & letters) === letters) return true;
  return false;
}

/**
 * A fast check of ASCII text, because most text that begins with `<` is not a tag of the markup: `unsure` if the full check
 * is needed, otherwise the result that it would give.
 */
function checkQuickly(source: string, at: number, final: boolean): "partial" | "none" | "unsure" {
  const { length } = source;
  let mask = 0;
  let spaces = 0;
  let openers = 0;
  let index = at;
  for (; index < length; index++) {
    const unit = source.charCodeAt(index);
    if (unit >= 128) return "unsure";
    const kind = HEAD_CLASSES[unit] ?? FORBIDDEN;
    if (kind === LETTER) mask |= 1 << (unit & 31);
    else if (kind === OPENS && index === at + openers) {
      if (++openers > MAX_OPENERS) return "none";
    } else if (kind === ENDS || kind === OPENS) return mayHoldLocal(mask) ? "unsure" : "none";
    else if (kind === FORBIDDEN || (kind === SPACE && ++spaces > MAX_SPACES)) return "none";
    if (index - at - openers === MAX_SHELL) return mayHoldLocal(mask) ? "unsure" : "none";
  }
  return final || mayHoldLocal(mask) ? "unsure" : "partial";
}

/**
 * Reads the tag that begins with the `<` (or look-alike) at `at`, in every form (docs/contract.md, tool rule 2).
 * @param limit Length limit of the tag in UTF-16 units.
 * @param final Whether no more text will follow, so that nothing is `partial`.
 */
export function readTag(source: string, at: number, limit: number, final: boolean): TagReading {
  const first = checkQuickly(source, at, final);
  if (first !== "unsure") return first;
  const stop = Math.min(source.length, at + limit);
  const span: Span = { source, at, stop, open: !final && source.length < at + limit, doubled: false };
  let index = at;
  let openers = 0;
  let spaces = 0;
  let folded = "";
  for (; index < stop; index += getUnitLength(source, index)) {
    const char = foldAt(source, index);
    if (char === "<" && folded === "") {
      if (++openers > MAX_OPENERS) return "none";
      span.doubled = openers > 1;
      continue;
    }
    if (char === "") continue;
    if (char === ">" || char === "<" || char === "\n") {
      const head = readHead(folded);
      if (!head || head.attribute !== undefined) return "none";
      if (char === ">") return createTagWithoutAttributes(span, head, index + 1);
      if (head.piped) return createTagWithoutAttributes(span, head, index);
      if (char === "<") return "none";
    } else if (char === "=") {
      const head = readHead(`${folded}=`);
      return head?.attribute === undefined ? "none" : readAttributes(span, head, index + 1);
    } else if (/["'[\]~]/.test(char)) return "none";
    folded += char === "\n" ? " " : char;
    if ((char === " " || char === "\n") && ++spaces > MAX_SPACES) return "none";
    if (folded.length === MAX_SHELL && !LOCAL.test(folded)) return "none";
  }
  if (span.open) return "partial";
  const head = final && stop === source.length ? readHead(folded) : undefined;
  return head?.piped && head.attribute === undefined ? createTagWithoutAttributes(span, head, stop) : "none";
}

/**
 * Whether the text ends within an incomplete closing tag at `at` that cannot be part of a value: at least `minLength`
 * units of `</`, of a shell that begins with a bar, or of either with the first letters of a local name.
 * @param shells Shells that may precede the local name, in addition to those of the markup itself.
 */
export function endsInClosingTag(
  source: string,
  at: number,
  shells: readonly string[],
  minLength: number,
): boolean {
  const { length } = source;
  if (length - at < minLength || length - at > MAX_SHELL + MAX_SPACES) return false;
  if (readTag(source, at, length - at + 1, false) !== "partial") return false;
  let folded = "";
  for (let index = at + 1; index < length; index += getUnitLength(source, index))
    folded += foldAt(source, index);
  const letters = folded.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (folded !== "" && !folded.includes("/") && !/[|｜]/.test(source[at + 1] ?? "")) return false;
  return ["", "tcml", ...shells].some((shell) =>
    ["parameter", "invoke", "toolcalls"].some((local) => (shell + local).startsWith(letters)),
  );
}
