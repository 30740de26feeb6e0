import { oncePer } from "./once.ts";

/*
 * Edits of single members of a JSON text. The rest of the text keeps its bytes: another order of members would invalidate
 * the prompt caches of providers.
 */

/** One member of a JSON object, as offsets in its text. */
export interface MemberRange {
  readonly name: string;
  /** Where the name begins. */
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

/** The index after the white space at `at`. */
export function skipSpace(text: string, at: number): number {
  let index = at;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return index;
}

/** The index after the string that begins at `at`. */
export function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  for (;;) {
    if (end === -1) throw new SyntaxError("a string of the JSON text has no end");
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
}

/** The index after the value that begins at `at`. */
export function skipValue(text: string, at: number): number {
  let depth = 0;
  let index = at;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) {
      index = skipString(text, index);
      if (depth === 0) return index;
      continue;
    }
    if (unit === 0x7b || unit === 0x5b) depth += 1;
    else if (unit === 0x7d || unit === 0x5d) {
      if (depth === 0) return index;
      depth -= 1;
      if (depth === 0) return index + 1;
    } else if (depth === 0 && (unit === 0x2c || isSpace(unit))) return index;
    index += 1;
  }
  return index;
}

/** The name of a member whose JSON string is at `start`. Most have no escape, and parsing costs more than cutting. */
export function parseName(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1);
  return name.includes("\\") ? String(JSON.parse(text.slice(start, end))) : name;
}

/** Lists the members of the object that begins at or after `from`. `text` must be valid JSON. */
export function* listMembers(text: string, from = 0): Generator<MemberRange> {
  let index = skipSpace(text, from);
  if (text[index] !== "{") return;
  index = skipSpace(text, index + 1);
  while (text.charCodeAt(index) === QUOTE) {
    const nameEnd = skipString(text, index);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = skipValue(text, valueStart);
    yield { name: parseName(text, index, nameEnd), start: index, valueStart, valueEnd };
    // Skips the comma. After the last member this is the end of the object.
    index = skipSpace(text, skipSpace(text, valueEnd) + 1);
  }
}

/** Lists where the elements of the list that begins at or after `from` begin. `text` must be valid JSON. */
export function* listElements(text: string, from = 0): Generator<number> {
  let index = skipSpace(text, from);
  if (text[index] !== "[") return;
  index = skipSpace(text, index + 1);
  while (index < text.length && text[index] !== "]") {
    yield index;
    index = skipSpace(text, skipValue(text, index));
    if (text[index] !== ",") return;
    index = skipSpace(text, index + 1);
  }
}

function findMember(text: string, path: readonly string[]): MemberRange | null {
  let from = 0;
  let found: MemberRange | null = null;
  for (const step of path) {
    found = null;
    for (const member of listMembers(text, from)) if (member.name === step) found = member;
    if (found === null) return null;
    from = found.valueStart;
  }
  return found;
}

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * A name without its case, as lenient parsers compare it:
 * `K` (the Kelvin sign) is a k, `ſ` an s, and `İ` and `ı` are an i.
 */
export function foldCase(name: string): string {
  const lower = name.toLowerCase();
  if (!NOT_ASCII.test(lower)) return lower;
  // The lower case of `İ` is an i with a dot of its own.
  return lower.replaceAll("\u0307", "").toUpperCase().toLowerCase();
}

/** Names by their folded forms. The lists are constants. */
const indexFolded = oncePer(
  (names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(names.map((name) => [foldCase(name), name])),
);

/**
 * Finds a member that parsers read differently: it is stated twice, or its name differs in case from the one among `names`.
 * Some parsers take any case. `text` must be valid JSON.
 *
 * @returns the name among `names`; null: all of them are clear
 */
export function findAmbiguousMember(text: string, names: readonly string[]): string | null {
  const known = indexFolded(names);
  const seen = new Set<string>();
  for (const { name } of listMembers(text)) {
    const meant = known.get(foldCase(name));
    if (meant === undefined) continue;
    if (meant !== name || seen.has(name)) return meant;
    seen.add(name);
  }
  return null;
}

/** Whether the outermost object has one of the members, in any case. `text` must be valid JSON. */
export function hasMemberInAnyCase(text: string, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  const folded = indexFolded(names);
  for (const { name } of listMembers(text)) if (folded.has(foldCase(name))) return true;
  return false;
}

/** Removes the white space outside of strings. `text` must be valid JSON. */
export function removeSpaces(text: string): string {
  let plain = "";
  let index = 0;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    const end = unit === QUOTE ? skipString(text, index) : index + 1;
    if (!isSpace(unit)) plain += text.slice(index, end);
    index = end;
  }
  return plain;
}

/** The source texts of all members of the outermost object that have a name. `text` must be valid JSON. */
export function getMemberTexts(text: string, name: string): string[] {
  const found: string[] = [];
  for (const member of listMembers(text)) {
    if (member.name === name) found.push(text.slice(member.valueStart, member.valueEnd));
  }
  return found;
}

/** The source text of the member at `path`; null if there is none. `text` must be valid JSON. */
export function getMemberText(text: string, path: readonly string[]): string | null {
  const member = findMember(text, path);
  return member === null ? null : text.slice(member.valueStart, member.valueEnd);
}

/** Replaces the value of the member at `path` by `json`. Returns `text` unchanged if there is no such member. */
export function replaceMember(text: string, path: readonly string[], json: string): string {
  return editMember(text, path, () => json);
}

/** Replaces the value of the member at `path` by what `edit` returns for its source text. */
export function editMember(text: string, path: readonly string[], edit: (value: string) => string): string {
  const member = findMember(text, path);
  if (member === null) return text;
  const { valueStart, valueEnd } = member;
  const value = text.slice(valueStart, valueEnd);
  const edited = edit(value);
  return edited === value ? text : text.slice(0, valueStart) + edited + text.slice(valueEnd);
}

/** Sets a member of the outermost object: replaces its value, or adds it at the end. It is then stated only once. */
export function setMember(text: string, name: string, json: string): string {
  let stated: MemberRange | null = null;
  let isRepeated = false;
  for (const member of listMembers(text)) {
    if (member.name !== name) continue;
    isRepeated = stated !== null;
    stated = member;
  }
  if (stated !== null && !isRepeated)
    return text.slice(0, stated.valueStart) + json + text.slice(stated.valueEnd);
  const rest = isRepeated ? removeMember(text, name) : text;
  const end = rest.lastIndexOf("}");
  const isEmpty = listMembers(rest).next().done === true;
  return `${rest.slice(0, end)}${isEmpty ? "" : ","}${JSON.stringify(name)}:${json}${rest.slice(end)}`;
}

/** Removes a member of the outermost object with its comma, however often it is stated. */
export function removeMember(text: string, name: string): string {
  return removeMembers(text, (stated) => stated === name);
}

/** Removes all members of the outermost object whose names are to be removed, with their commas. */
export function removeMembers(text: string, isRemoved: (name: string) => boolean): string {
  const pieces: string[] = [];
  /** What stands before this offset is in `pieces` or removed. */
  let done = 0;
  /** Where the present run of removed members begins and ends. */
  let runStart: number | null = null;
  let runEnd = 0;
  let keptEnd: number | null = null;
  for (const member of listMembers(text)) {
    if (isRemoved(member.name)) {
      runStart ??= member.start;
      runEnd = member.valueEnd;
      continue;
    }
    if (runStart !== null) {
      pieces.push(text.slice(done, runStart));
      done = member.start;
      runStart = null;
    }
    keptEnd = member.valueEnd;
  }
  if (runStart !== null) {
    // These members are the last ones: the comma before them is removed.
    pieces.push(text.slice(done, keptEnd === null ? runStart : skipSpace(text, keptEnd)));
    done = runEnd;
  }
  return done === 0 ? text : pieces.join("") + text.slice(done);
}
