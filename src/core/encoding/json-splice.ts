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

function skipSpace(text: string, at: number): number {
  let index = at;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return index;
}

/** The index after the string that begins at `at`. */
function skipString(text: string, at: number): number {
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
function skipValue(text: string, at: number): number {
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

/** The name of a member. `json` is its JSON string: most have no escape, and parsing costs more than cutting. */
function parseName(json: string): string {
  return json.includes("\\") ? String(JSON.parse(json)) : json.slice(1, -1);
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
    yield { name: parseName(text.slice(index, nameEnd)), start: index, valueStart, valueEnd };
    // Skips the comma. After the last member this is the end of the object.
    index = skipSpace(text, skipSpace(text, valueEnd) + 1);
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

/** Whether an object states a member twice. Parsers differ in which one they use. `text` must be valid JSON. */
export function hasRepeatedMember(text: string, names: readonly string[]): boolean {
  const seen = new Set<string>();
  for (const { name } of listMembers(text)) {
    if (seen.has(name)) return true;
    if (names.includes(name)) seen.add(name);
  }
  return false;
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

/** Sets a member of the outermost object: replaces its value, or adds it at the end. */
export function setMember(text: string, name: string, json: string): string {
  const member = findMember(text, [name]);
  if (member !== null) return text.slice(0, member.valueStart) + json + text.slice(member.valueEnd);
  const end = text.lastIndexOf("}");
  const isEmpty = listMembers(text).next().done === true;
  return `${text.slice(0, end)}${isEmpty ? "" : ","}${JSON.stringify(name)}:${json}${text.slice(end)}`;
}

/** Removes a member of the outermost object, with its comma. */
export function removeMember(text: string, name: string): string {
  const member = findMember(text, [name]);
  if (member === null) return text;
  const next = skipSpace(text, member.valueEnd);
  if (text[next] === ",") return text.slice(0, member.start) + text.slice(skipSpace(text, next + 1));
  let before = member.start - 1;
  while (isSpace(text.charCodeAt(before))) before -= 1;
  return text.slice(0, text[before] === "," ? before : member.start) + text.slice(member.valueEnd);
}
