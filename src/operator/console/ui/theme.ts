import { createStore } from "../store.ts";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

const KEY = "polygate.theme";

function read(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "auto";
}

function show(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export const theme = createStore<Theme>(read());
show(theme.get());
theme.watch((next) => {
  localStorage.setItem(KEY, next);
  show(next);
});

const NEXT: Readonly<Record<Theme, Theme>> = { auto: "light", light: "dark", dark: "auto" };

export function nextTheme(): void {
  theme.set(NEXT[theme.get()]);
}

/** Calls `listener` whenever the colors change, by the user's choice or by the system. */
export function watchColours(listener: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", listener);
  const stop = theme.watch(listener);
  return () => {
    media.removeEventListener("change", listener);
    stop();
  };
}
