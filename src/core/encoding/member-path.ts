import { isObject } from "./json.ts";
import { listElements, listMembers, removeMembers } from "./json-splice.ts";

/*
 * Members of JSON values by path. A path is a list of names. It passes through lists: `["tools", "strict"]` means the
 * member `strict` of every tool. Case and underscores of names do not count: some backends read `top_k` and `topK` alike.
 */

/** Reads a path written with dots, as in `tools.function.strict`. */
export function parseMemberPath(path: string): readonly string[] {
  return path.split(".");
}

const foldName = (name: string): string => name.toLowerCase().toUpperCase().replaceAll("_", "");

function isSameName(one: string, other: string): boolean {
  return one === other || foldName(one) === foldName(other);
}

/** The names of an object's members that mean the same as `name`. */
const namesLike = (value: object, name: string): string[] =>
  Object.keys(value).filter((stated) => isSameName(stated, name));

/** Whether a JSON value has a member at `path`. */
export function hasMemberAt(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((entry: unknown) => hasMemberAt(entry, path));
  return isObject(value) && namesLike(value, name).some((stated) => hasMemberAt(value[stated], rest));
}

/** A copy of a JSON value without the members at `path`. What they are not part of is shared with the original. */
export function withoutMemberAt<T extends object>(value: T, path: readonly string[]): T {
  const [name, ...rest] = path;
  if (name === undefined || !hasMemberAt(value, path)) return value;
  const copy = { ...value };
  for (const stated of namesLike(value, name)) {
    if (rest.length === 0) Reflect.deleteProperty(copy, stated);
    else Reflect.set(copy, stated, withoutMemberInValue(Reflect.get(value, stated), rest));
  }
  return copy;
}

function withoutMemberInValue(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => withoutMemberInValue(entry, path));
  return isObject(value) ? withoutMemberAt(value, path) : value;
}

/**
 * Whether the object of a JSON text has a member at `path`. Of members that are stated twice, each statement counts: parsers
 * differ in which one they use.
 */
export function hasMemberInText(text: string, path: readonly string[], from = 0): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  for (const start of listElements(text, from)) if (hasMemberInText(text, path, start)) return true;
  for (const member of listMembers(text, from)) {
    if (isSameName(member.name, name) && hasMemberInText(text, rest, member.valueStart)) return true;
  }
  return false;
}

/**
 * Removes the members at `path` from the object of a JSON text. Members of the object that are not affected keep their
 * bytes. In affected ones, the last of equal members remains.
 */
export function removeMemberFromText(text: string, path: readonly string[]): string {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return removeMembers(text, (stated) => isSameName(stated, name));
  let result = "";
  let done = 0;
  for (const member of listMembers(text)) {
    const { valueStart, valueEnd } = member;
    if (!isSameName(member.name, name) || !hasMemberInText(text, rest, valueStart)) continue;
    const value: unknown = JSON.parse(text.slice(valueStart, valueEnd));
    result += text.slice(done, valueStart) + JSON.stringify(withoutMemberInValue(value, rest));
    done = valueEnd;
  }
  return result + text.slice(done);
}
