import { createStore } from "./store.ts";

/** The overlay that is open over a page. */
export type Overlay = "none" | "search" | "help";
export const currentOverlay = createStore<Overlay>("none");

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
const KEY_SEQUENCE_MS = 1_500;
const KEY = "polygate.shortcuts";

function readStoredSetting(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

/** Whether single-key shortcuts are enabled. Users of voice control need to disable them. */
export const shortcutsEnabled = createStore(readStoredSetting());

export function setShortcutsEnabled(enabled: boolean): void {
  shortcutsEnabled.set(enabled);
  try {
    localStorage.setItem(KEY, enabled ? "on" : "off");
  } catch {
    // The browser does not store data: the setting lasts until the tab closes.
  }
}

/** The action of a key; null: none. */
export type ShortcutAction =
  | { readonly do: "search" | "help" | "find" | "undo" | "wait" }
  | { readonly do: "go"; readonly page: string };

/** The relevant part of a keyboard event. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Converts a sequence of key presses to actions. */
export class ShortcutParser {
  #sequenceEndsAt = 0;

  /**
   * Handles one key press. `acceptsSingleKeys`: no field has focus and no dialog is open, so single keys are active. `now`:
   * milliseconds.
   */
  handleKey(
    { key, ctrlKey, metaKey, altKey }: KeyPress,
    acceptsSingleKeys: boolean,
    now: number,
  ): ShortcutAction | null {
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") return { do: "search" };
    if (ctrlKey || metaKey || altKey || !acceptsSingleKeys) return null;
    const paired = now < this.#sequenceEndsAt;
    this.#sequenceEndsAt = 0;
    const page = PAGE_KEYS[key];
    if (paired && page !== undefined) return { do: "go", page };
    switch (key) {
      case "g":
        this.#sequenceEndsAt = now + KEY_SEQUENCE_MS;
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
