/** The console's languages, each by its own name. English is built in; the others load when they are chosen. */
export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文" } as const;

export type Language = keyof typeof LANGUAGES;

const KEY = "polygate.language";

const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);

/** The user's choice, else the first of the browser's languages that the console has, else English. */
function findLanguage(): Language {
  if (typeof document === "undefined") return "en";
  const preferred = [localStorage.getItem(KEY) ?? "", ...navigator.languages];
  return preferred.map((name) => name.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** The language of this page. */
export const language = findLanguage();

/** Stores the user's choice and loads the console again in that language. */
export function chooseLanguage(chosen: string): void {
  localStorage.setItem(KEY, chosen);
  location.reload();
}

type Texts = Readonly<Record<string, object>>;
let translation: Texts = {};

/** Sets the texts in the user's language. Must run before the pages' modules are evaluated: their texts are constants. */
export function setTranslation(texts: Texts): void {
  translation = texts;
}

/** Returns a page's texts in the user's language. Texts without a translation stay English. */
export function translate<T extends object>(page: string, english: T): T {
  return { ...english, ...translation[page] };
}

/** Template tag for texts that contain elements: returns the children of an element. */
export function rich<T>(strings: TemplateStringsArray, ...values: readonly T[]): (string | T)[] {
  return strings.flatMap((text, index) => [text, ...values.slice(index, index + 1)]);
}
