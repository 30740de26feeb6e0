import { isObject } from "../../../core/encoding/json.ts";

/** A field that two edits gave different values. */
export interface FieldVersions {
  readonly path: string;
  readonly mine: string;
  readonly current: string;
}

/** Names of fields whose values the page does not repeat. */
const SECRET = /(?:^|_|\.)(?:key|password|secret|token|private_key|credentials)$/i;
const HIDDEN = "••••••";

function* listFields(value: unknown, path: string): Generator<readonly [path: string, value: unknown]> {
  if (!isObject(value)) {
    yield [path, value];
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    yield* listFields(member, path === "" ? name : `${path}.${name}`);
  }
}

const toText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** Lists the fields of an edit that differ from the entry as it is now. `edit` has only the fields that it sets. */
export function compareVersions(edit: unknown, current: unknown): readonly FieldVersions[] {
  const now = new Map(listFields(current, ""));
  return [...listFields(edit, "")].flatMap(([path, value]) => {
    const mine = toText(value);
    const other = toText(now.get(path));
    if (mine === other) return [];
    const isSecret = SECRET.test(path);
    const show = (text: string) => (isSecret && text !== "" ? HIDDEN : text);
    return [{ path, mine: show(mine), current: show(other) }];
  });
}
