import type { Setting } from "./setting-list.ts";

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

/** What is wrong with the draft's numbers, in words, by the path of the setting. */
export function faultsOf(draft: Draft, settings: readonly Setting[]): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {};
  for (const { path, kind } of settings) {
    const value = draft[path];
    if (value === undefined || kind.type !== "number") continue;
    const number = Number(value);
    const { min, max } = kind;
    const whole = Number.isInteger(min);
    const fits = value !== "" && number >= min && number <= max && (!whole || Number.isInteger(number));
    if (!fits) {
      faults[path] =
        `Must be a ${whole ? "whole " : ""}number from ${range.format(min)} to ${range.format(max)}.`;
    }
  }
  return faults;
}

/** The setting that a refusal of the gateway names, and what it says of it; null when it names none. */
export function refusedSetting(
  message: string,
  settings: readonly Setting[],
): { readonly path: string; readonly fault: string } | null {
  for (const { path } of settings) {
    if (message.startsWith(`${path}: `)) return { path, fault: message.slice(path.length + 2) };
  }
  return null;
}

const range = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** The draft as the gateway takes it, grouped; numbers where the setting is one. */
export function changesOf(
  draft: Draft,
  numbers: ReadonlySet<string>,
): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const [path, value] of Object.entries(draft)) {
    const [group = "", field = ""] = path.split(".");
    const isNumber = numbers.has(path);
    changes[group] = { ...changes[group], [field]: isNumber ? Number(value) : value };
  }
  return changes;
}
