import { language, setTranslation } from "../language.ts";

const TRANSLATIONS = {
  de: () => import("./de.ts"),
  zh: () => import("./zh.ts"),
} as const;

/** Loads the translation of the user's language. If its file cannot be loaded, the console stays English. */
export async function loadTranslation(): Promise<void> {
  document.documentElement.lang = language;
  if (language === "en") return;
  try {
    setTranslation({ ...(await TRANSLATIONS[language]()).default });
  } catch {
    document.documentElement.lang = "en";
  }
}
