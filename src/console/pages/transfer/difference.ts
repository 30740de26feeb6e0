/** One thing that an import would change. */
export interface Change {
  readonly kind: "added" | "removed" | "changed";
  /** Where it is: `accounts › one@example.com › remark`. Keys and tokens are shortened. */
  readonly path: readonly string[];
  readonly before: string;
  readonly after: string;
}

/** What tells the members of a list apart, the first that a member has. */
const NAMES = ["identifier", "key", "id", "email", "mobile", "token"] as const;
const SECRET = /password|token|secret|hash$|^key$/;
/** Lists whose members are secrets themselves. */
const SECRETS = new Set(["keys"]);
/** Metadata that is not the operator's. */
const LEFT_OUT = new Set(["sync"]);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** A secret so that its owner recognises it. */
function shortened(secret: string): string {
  return secret.length < 16 ? "••••" : `${secret.slice(0, 4)}••••${secret.slice(-4)}`;
}

/** What a thing is called: to tell it from others, and for people. */
interface Named {
  readonly name: string;
  readonly shown: string;
  readonly value: unknown;
}

function named(value: unknown, index: number, secret: boolean): Named {
  if (!isObject(value)) {
    const name = String(value);
    return { name, shown: secret ? shortened(name) : name, value };
  }
  const fields = new Map(Object.entries(value));
  for (const field of NAMES) {
    const name = fields.get(field);
    if (typeof name === "string" && name !== "") {
      return { name, shown: SECRET.test(field) ? shortened(name) : name, value };
    }
  }
  return { name: `#${index + 1}`, shown: `#${index + 1}`, value };
}

/** The members of an object or a list by name; null for a plain value. */
function membersOf(value: unknown, path: readonly string[]): Map<string, Named> | null {
  if (!isObject(value)) return null;
  const secret = SECRETS.has(path.at(-1) ?? "");
  const members = Array.isArray(value)
    ? value.map((member: unknown, index) => named(member, index, secret))
    : Object.entries(value).map(([name, member]: [string, unknown]) => ({
        name,
        shown: name,
        value: member,
      }));
  return new Map(members.map((member) => [member.name, member]));
}

/** A value for people; secrets are told to be there, not shown. */
function shown(value: unknown, path: readonly string[]): string {
  if (value === undefined || value === "") return "";
  const last = path.at(-1) ?? "";
  if ((SECRET.test(last) || SECRETS.has(path.at(-2) ?? "")) && typeof value === "string") return "••••";
  if (isObject(value)) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function walk(before: unknown, after: unknown, path: readonly string[], changes: Change[]): void {
  const old = membersOf(before, path);
  const next = membersOf(after, path);
  if (old === null || next === null) {
    if (before === after) return;
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    changes.push({ kind, path, before: shown(before, path), after: shown(after, path) });
    return;
  }
  for (const name of new Set([...old.keys(), ...next.keys()])) {
    if (path.length === 0 && LEFT_OUT.has(name)) continue;
    const shownName = (next.get(name) ?? old.get(name))?.shown ?? name;
    walk(old.get(name)?.value, next.get(name)?.value, [...path, shownName], changes);
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
