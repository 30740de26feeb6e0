import type { Setting } from "./setting-list.ts";
import { texts } from "./texts.ts";

/** Unsaved input values, by the path of the setting. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** Returns the value at `group.field`; undefined if there is none. */
export function getValue(settings: object, path: string): unknown {
  let value: unknown = settings;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = new Map(Object.entries(value)).get(name);
  }
  return value;
}

/** Updates the draft. Removes a value that equals the saved one. */
export function updateDraft(draft: Draft, settings: object, path: string, value: string | boolean): Draft {
  const rest = Object.fromEntries(Object.entries(draft).filter(([name]) => name !== path));
  const saved = getValue(settings, path);
  const isUnchanged = typeof value === "boolean" ? saved === value : String(saved ?? "") === value;
  return isUnchanged ? rest : { ...rest, [path]: value };
}

/** Validates the numbers in the draft. Returns errors by the path of the setting. */
export function validateSettings(
  draft: Draft,
  settings: readonly Setting[],
): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {};
  for (const { path, kind } of settings) {
    const value = draft[path];
    if (value === undefined || kind.type !== "number") continue;
    const number = Number(value);
    const { min, max } = kind;
    const isWhole = Number.isInteger(min);
    const fits = value !== "" && number >= min && number <= max && (!isWhole || Number.isInteger(number));
    if (!fits) {
      faults[path] = texts.mustBeNumberFromTo(isWhole ? "whole " : "", range.format(min), range.format(max));
    }
  }
  return faults;
}

/** Finds the setting that an error message of the gateway names; null: none. */
export function findRejectedSetting(
  message: string,
  settings: readonly Setting[],
): { readonly path: string; readonly fault: string } | null {
  for (const { path } of settings) {
    if (message.startsWith(`${path}: `)) return { path, fault: message.slice(path.length + 2) };
  }
  return null;
}

const range = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** Converts the draft to the request: grouped, with numbers as numbers. */
export function toSettingChanges(
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
