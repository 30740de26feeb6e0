import { isObject } from "./json.ts";
import { getMemberTexts, removeMember, setMember } from "./json-splice.ts";

/*
 * Members of JSON values by path. A path is a list of names. It passes through lists: `["tools", "strict"]` means the
 * member `strict` of every tool.
 */

/** Reads a path written with dots, as in `tools.function.strict`. */
export function parseMemberPath(path: string): readonly string[] {
  return path.split(".");
}

/** Whether a JSON value has a member at `path`. */
export function hasMemberAt(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((entry: unknown) => hasMemberAt(entry, path));
  return isObject(value) && hasMemberAt(value[name], rest);
}

/** A copy of a JSON value without the members at `path`. What they are not part of is shared with the original. */
export function withoutMemberAt<T extends object>(value: T, path: readonly string[]): T {
  const [name, ...rest] = path;
  if (name === undefined || !hasMemberAt(value, path)) return value;
  const copy = { ...value };
  const member: unknown = Reflect.get(value, name);
  if (rest.length === 0) Reflect.deleteProperty(copy, name);
  else Reflect.set(copy, name, withoutMemberInValue(member, rest));
  return copy;
}

function withoutMemberInValue(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => withoutMemberInValue(entry, path));
  return isObject(value) ? withoutMemberAt(value, path) : value;
}

/** Whether the object of a JSON text has a member at `path`. Of a member that is stated twice, each statement counts. */
export function hasMemberInText(text: string, path: readonly string[]): boolean {
  const [name = "", ...rest] = path;
  const members = getMemberTexts(text, name);
  return rest.length === 0
    ? members.length > 0
    : members.some((member) => hasMemberAt(JSON.parse(member), rest));
}

/**
 * Removes the members at `path` from the object of a JSON text. Members of the object that are not affected keep their bytes.
 * Of an affected member that is stated twice, the last statement remains.
 */
export function removeMemberFromText(text: string, path: readonly string[]): string {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return removeMember(text, name);
  if (!hasMemberInText(text, path)) return text;
  const value: unknown = JSON.parse(getMemberTexts(text, name).at(-1) ?? "null");
  return setMember(text, name, JSON.stringify(withoutMemberInValue(value, rest)));
}
