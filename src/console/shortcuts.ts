import { createStore } from "./store.ts";

/** What the frame shows over a page. */
export type Sheet = "none" | "search" | "help";
export const sheet = createStore<Sheet>("none");

/** Second keys after `g`, and the pages that they lead to. */
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

/** Whether single keys do something. People who speak to their computer want them off. */
export const shortcutsOn = createStore(stored());

export function turnShortcuts(on: boolean): void {
  shortcutsOn.set(on);
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // It holds until the tab is closed.
  }
}

/** What a key stands for; null: nothing. */
export type Deed =
  | { readonly do: "search" | "help" | "find" | "undo" | "wait" }
  | { readonly do: "go"; readonly page: string };

/** The part of a keyboard event that counts. */
export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Tells what keys stand for, one after the other. */
export class Keyboard {
  #pairUntil = 0;

  /** `free`: no field has the focus and no dialog is open, so that single keys count. `now`: milliseconds. */
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
