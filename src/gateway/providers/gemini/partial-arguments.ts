import { ProviderError } from "../../../core/errors/provider-error.ts";
import { objectsIn } from "../json.ts";

/** One step of a JSON path: a member with its separator, or an index. */
const STEP = /\.([^.[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
/** Deeper arguments would exhaust the stack. */
const MAX_DEPTH = 100;

type Key = string | number;

/** An object or array, whose keys are names or indexes, or a plain value. */
type Node = Map<Key, Node> | string | number | boolean | null;

/** Collects arguments that arrive as values with JSON paths (`partialArgs`). Pieces of one string are joined. */
export class PartialArguments {
  readonly #root = new Map<Key, Node>();

  /** Adds the pieces of one chunk. Throws a `ProviderError` `malformed` for a path that is not understood. */
  add(pieces: unknown): void {
    for (const piece of objectsIn(pieces)) {
      const value = valueIn(piece);
      if (value !== undefined) this.#set(parsePath(piece["jsonPath"]), value);
    }
  }

  /** Returns the arguments so far. */
  build(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#root].map(([key, node]) => [key, toJson(node)]));
  }

  #set(path: readonly Key[], value: Exclude<Node, Map<Key, Node>>): void {
    let at = this.#root;
    for (const key of path.slice(0, -1)) {
      const known = at.get(key);
      const next = known instanceof Map ? known : new Map<Key, Node>();
      at.set(key, next);
      at = next;
    }
    const key = path.at(-1) ?? "";
    const known = at.get(key);
    at.set(key, typeof known === "string" && typeof value === "string" ? known + value : value);
  }
}

function valueIn(piece: Readonly<Record<string, unknown>>): Exclude<Node, Map<Key, Node>> | undefined {
  const { stringValue, numberValue, boolValue } = piece;
  if (typeof stringValue === "string") return stringValue;
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return "nullValue" in piece ? null : undefined;
}

/** Parses a path such as `$.places[0].name`. */
function parsePath(path: unknown): Key[] {
  const text = typeof path === "string" && path.startsWith("$") ? path.slice(1) : "";
  const keys: Key[] = [];
  let end = 0;
  for (const match of text.matchAll(STEP)) {
    const [step, name, index, single, double] = match;
    end += step.length;
    keys.push(index === undefined ? (name ?? unescapeName(single ?? double ?? "")) : Number(index));
  }
  if (keys.length === 0 || keys.length > MAX_DEPTH || end < text.length) {
    throw new ProviderError("malformed", "the provider sent arguments with an unknown path");
  }
  return keys;
}

function unescapeName(name: string): string {
  return name.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, escaped: string) => {
    if (escaped.length > 1) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return ESCAPES.get(escaped) ?? escaped;
  });
}

const ESCAPES = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** An object whose keys are all indexes is an array. Missing indexes are closed up. */
function toJson(node: Node): unknown {
  if (!(node instanceof Map)) return node;
  const entries = [...node];
  if (entries.every(([key]) => typeof key === "number")) {
    return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, item]) => toJson(item));
  }
  return Object.fromEntries(entries.map(([key, item]) => [key, toJson(item)]));
}
