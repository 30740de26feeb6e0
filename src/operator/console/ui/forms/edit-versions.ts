import { isObject, type JsonObject } from "../../../../core/encoding/json.ts";

/** A field that two edits gave different values. */
export interface FieldVersions {
  readonly path: string;
  readonly mine: string;
  readonly current: string;
}

/** Names of fields whose values the page does not repeat. */
const SECRET = /(?:^|_|\.)(?:key|password|secret|token|private_key|credentials)$/i;
const HIDDEN = "••••••";

const toText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** Returns the entries of a list by their ids; null: not all of them have one. */
function indexById(list: unknown): ReadonlyMap<string, JsonObject> | null {
  if (!Array.isArray(list)) return null;
  const entries = list.filter(isObject).map((entry) => [toText(entry["id"]), entry] as const);
  return entries.length === list.length && entries.every(([id]) => id !== "") ? new Map(entries) : null;
}

/** An entry that only one version has: only its name is shown, because it may contain secrets. */
const nameOf = (entry: JsonObject | undefined): string =>
  entry === undefined ? "" : toText(entry["name"]) || toText(entry["id"]);

function* findDifferences(mine: unknown, current: unknown, path: string): Generator<FieldVersions> {
  if (isObject(mine)) {
    for (const [name, member] of Object.entries(mine)) {
      const other = isObject(current) ? current[name] : undefined;
      yield* findDifferences(member, other, path === "" ? name : `${path}.${name}`);
    }
    return;
  }
  const [myEntries, currentEntries] = [indexById(mine), indexById(current)];
  if (myEntries !== null && currentEntries !== null) {
    for (const id of new Set([...myEntries.keys(), ...currentEntries.keys()])) {
      const [entry, other] = [myEntries.get(id), currentEntries.get(id)];
      if (entry !== undefined && other !== undefined) yield* findDifferences(entry, other, `${path}[${id}]`);
      else yield { path: `${path}[${id}]`, mine: nameOf(entry), current: nameOf(other) };
    }
    return;
  }
  const [mineText, currentText] = [toText(mine), toText(current)];
  if (mineText === currentText) return;
  const show = (text: string) => (SECRET.test(path) && text !== "" ? HIDDEN : text);
  yield { path, mine: show(mineText), current: show(currentText) };
}

/** Lists the fields of an edit that differ from the entry as it is now. `edit` has only the fields that it sets. */
export function compareVersions(edit: unknown, current: unknown): readonly FieldVersions[] {
  return [...findDifferences(edit, current, "")];
}
