import { createStore } from "./store.ts";

/** The overlay that is open over a page. */
export type Sheet = "none" | "search" | "help";
export const sheet = createStore<Sheet>("none");

/** Second keys after `g`, and the pages that they open. */
export const PAGE_KEYS: Readonly<Record<string, string>> = {
  o: "overview",
  u: "usage",
  h: "history",
  c: "captures",
  l: "alerts",
  d: "audit",
  p: "playground",
  w: "pages",
  a: "accounts",
  k: "keys",
  v: "providers",
  x: "proxies",
  m: "models",
  s: "settings",
  t: "transfer",
};

/** How long `g` waits for its second key. */
const PAIR_MS = 1_500;
const KEY = "polygate.shortcuts";

function stored(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

/** Whether single-key shortcuts are enabled. Users of voice control need to disable them. */
export const shortcutsOn = createStore(stored());

export function turnShortcuts(on: boolean): void {
  shortcutsOn.set(on);
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // The browser does not store data: the setting lasts until the tab closes.
  }
}

/** The action of a key; null: none. */
export type Deed =
  | { readonly do: "search" | "help" | "find" | "undo" | "wait" }
  | { readonly do: "go"; readonly page: string };

/** The relevant part of a keyboard event. */
export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Converts a sequence of key presses to actions. */
export class Keyboard {
  #pairUntil = 0;

  /**
   * Handles one key press. `free`: no field has focus and no dialog is open, so single keys are active. `now`:
   * milliseconds.
   */
  press({ key, ctrlKey, metaKey, altKey }: Pressed, free: boolean, now: number): Deed | null {
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") return { do: "search" };
    if (ctrlKey || metaKey || altKey || !free) return null;
    const paired = now < this.#pairUntil;
    this.#pairUntil = 0;
    const page = PAGE_KEYS[key];
    if (paired && page !== undefined) return { do: "go", page };
    switch (key) {
      case "g":
        this.#pairUntil = now + PAIR_MS;
        return { do: "wait" };
      case "?":
        return { do: "help" };
      case "/":
        return { do: "find" };
      case "z":
        return { do: "undo" };
      default:
        return null;
    }
  }
}
