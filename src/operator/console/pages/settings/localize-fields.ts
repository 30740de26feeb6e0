import type { SettingField } from "../../api/settings.ts";
import { texts } from "./texts.ts";

/** Settings that another page edits with a list of what is there. */
const ON_OTHER_PAGES: ReadonlySet<string> = new Set(["unknown_models.provider"]);

/** Settings with a common heading. */
export interface SettingGroup {
  readonly heading: string;
  readonly fields: readonly SettingField[];
}

/** Replaces the server's English texts of a setting by those of the user's language, if there are any. */
function localizeField(field: SettingField): SettingField {
  const translated = texts.fields[field.path];
  if (translated === undefined) return field;
  const { title, description, choices = {} } = translated;
  return {
    ...field,
    title,
    description,
    choices: field.choices.map((choice) => ({ ...choice, title: choices[choice.value] ?? choice.title })),
  };
}

/** Returns the settings of this page in the user's language. */
export const localizeFields = (fields: readonly SettingField[]): readonly SettingField[] =>
  fields.filter(({ path }) => !ON_OTHER_PAGES.has(path)).map(localizeField);

/** Finds the settings with a text in their name, description, value names or path, and those with a path in `always`. */
export function findFields(
  fields: readonly SettingField[],
  text: string,
  always: ReadonlySet<string>,
): readonly SettingField[] {
  const needle = text.trim().toLowerCase();
  return fields.filter(({ path, title, description, choices }) => {
    const texts = [path, title, description, ...choices.map((choice) => choice.title)];
    return always.has(path) || texts.some((each) => each.toLowerCase().includes(needle));
  });
}

/** Groups settings by their headings, in the order of their first appearance. */
export function groupFields(fields: readonly SettingField[]): readonly SettingGroup[] {
  const groups = Map.groupBy(fields, ({ heading }) => heading);
  return Array.from(groups, ([heading, members]) => ({
    heading: texts.headings[heading] ?? heading,
    fields: members,
  }));
}
