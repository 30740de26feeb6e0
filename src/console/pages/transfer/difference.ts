/** One thing that an import would change. */
export interface Change {
  readonly kind: "added" | "removed" | "changed";
  /** Where it is: `accounts › one@example.com › remark`. */
  readonly path: readonly string[];
  readonly before: string;
  readonly after: string;
}

/** What tells the members of a list apart, the first that a member has. */
const NAMES = ["identifier", "key", "id", "email", "mobile", "token"] as const;
const SECRET = /password|token|secret|hash$/;
/** Metadata that is not the operator's. */
const LEFT_OUT = new Set(["sync"]);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function nameOf(member: unknown, index: number): string {
  if (!isObject(member)) return String(member);
  const fields = new Map(Object.entries(member));
  for (const name of NAMES) {
    const value = fields.get(name);
    if (typeof value === "string" && value !== "") return value;
  }
  return `#${index + 1}`;
}

/** The members of an object or a list by name; null for a plain value. */
function membersOf(value: unknown): Map<string, unknown> | null {
  if (Array.isArray(value)) return new Map(value.map((member, index) => [nameOf(member, index), member]));
  return isObject(value) ? new Map(Object.entries(value)) : null;
}

/** A value for people; secrets are told to be there, not shown. */
function shown(value: unknown, path: readonly string[]): string {
  if (value === undefined || value === "") return "";
  if (SECRET.test(path.at(-1) ?? "") && typeof value === "string") return "••••";
  if (isObject(value)) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function walk(before: unknown, after: unknown, path: readonly string[], changes: Change[]): void {
  const old = membersOf(before);
  const next = membersOf(after);
  if (old === null || next === null) {
    if (before === after) return;
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    changes.push({ kind, path, before: shown(before, path), after: shown(after, path) });
    return;
  }
  for (const name of new Set([...old.keys(), ...next.keys()])) {
    if (path.length === 0 && LEFT_OUT.has(name)) continue;
    walk(old.get(name), next.get(name), [...path, name], changes);
  }
}

/**
 * What has to change in one configuration to make it the other. Members of lists are told apart by name and not by place,
 * so that one more account in front is one change.
 */
export function difference(before: unknown, after: unknown): Change[] {
  const changes: Change[] = [];
  walk(before, after, [], changes);
  return changes;
}
