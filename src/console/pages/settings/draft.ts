/** What was typed and not saved yet, by the path of the setting. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** The value at `group.field`; undefined when there is none. */
export function valueAt(settings: object, path: string): unknown {
  let value: unknown = settings;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = new Map(Object.entries(value)).get(name);
  }
  return value;
}

/** The draft without what is the same as before, so that "changed" means changed. */
export function edited(draft: Draft, settings: object, path: string, value: string | boolean): Draft {
  const rest = Object.fromEntries(Object.entries(draft).filter(([each]) => each !== path));
  const before = valueAt(settings, path);
  const same = typeof value === "boolean" ? before === value : String(before ?? "") === value;
  return same ? rest : { ...rest, [path]: value };
}

/**
 * The draft as the gateway takes it, grouped; numbers where the setting is one.
 *
 * @throws Error that names a field which is no number.
 */
export function changesOf(
  draft: Draft,
  numbers: ReadonlySet<string>,
): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const [path, value] of Object.entries(draft)) {
    const [group = "", field = ""] = path.split(".");
    const isNumber = numbers.has(path);
    if (isNumber && (value === "" || !Number.isFinite(Number(value)))) {
      throw new Error(`${path} must be a number.`);
    }
    changes[group] = { ...changes[group], [field]: isNumber ? Number(value) : value };
  }
  return changes;
}
