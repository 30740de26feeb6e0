import type { SettingField } from "../../api/settings.ts";
import { formatCount } from "../../ui/count.ts";
import type { Faults } from "../../ui/forms/form-errors.ts";
import { texts } from "./texts.ts";

/** Unsaved input values, by the path of the setting. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** Returns the value at `group.field`; undefined if there is none. */
function getValue(settings: object, path: string): unknown {
  let value: unknown = settings;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = new Map(Object.entries(value)).get(name);
  }
  return value;
}

/** Returns the input that shows a setting's stored value. */
export function toInput(settings: object, path: string): string | boolean {
  const value = getValue(settings, path);
  return typeof value === "boolean" ? value : String(value ?? "");
}

/** Returns the draft that brings back the stored values which `draft` changes. */
export function revertDraft(draft: Draft, settings: object): Draft {
  return Object.fromEntries(Object.keys(draft).map((path) => [path, toInput(settings, path)]));
}

/** Returns the draft with a value. Removes a value that equals the saved one. null: nothing differs. */
export function updateDraft(
  draft: Draft,
  settings: object,
  path: string,
  value: string | boolean,
): Draft | null {
  const { [path]: _, ...rest } = draft;
  const next = toInput(settings, path) === value ? rest : { ...rest, [path]: value };
  return Object.keys(next).length === 0 ? null : next;
}

/** Returns what is wrong with a number; empty: nothing. */
function findNumberFault({ kind, minimum, maximum }: SettingField, text: string): string {
  const number = Number(text);
  const isWhole = kind === "integer";
  const isNumber = text.trim() !== "" && (isWhole ? Number.isInteger(number) : Number.isFinite(number));
  if (isNumber && number >= (minimum ?? number) && number <= (maximum ?? number)) return "";
  const [low, high] = [minimum, maximum].map((bound) => (bound === undefined ? "" : formatCount(bound)));
  return texts.mustBeNumber(isWhole, low ?? "", high ?? "");
}

/** Validates the numbers in the draft. */
export function validateSettings(draft: Draft, fields: readonly SettingField[]): Faults {
  const faults = fields.flatMap((field) => {
    const value = draft[field.path];
    if (typeof value !== "string" || field.kind === "string") return [];
    const fault = findNumberFault(field, value);
    return fault === "" ? [] : [[field.path, fault] as const];
  });
  return Object.fromEntries(faults);
}

/** Converts the draft to the request: grouped, with numbers as numbers. */
export function toSettingChanges(
  draft: Draft,
  fields: readonly SettingField[],
): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const { path, kind } of fields) {
    const value = draft[path];
    if (value === undefined) continue;
    const [group = "", field = ""] = path.split(".");
    const isNumber = kind === "number" || kind === "integer";
    changes[group] = { ...changes[group], [field]: isNumber ? Number(value) : value };
  }
  return changes;
}
