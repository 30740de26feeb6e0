import { describe, expect, it } from "vitest";
import { PAGE_KEYS, ShortcutParser } from "../../../../src/operator/console/shortcuts.ts";

const key = (name: string, more: object = {}) => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

describe("the keyboard", () => {
  it("opens a page with two keys in quick succession", () => {
    const keyboard = new ShortcutParser();
    expect(keyboard.handleKey(key("a"), true, 0)).toBeNull();
    expect(keyboard.handleKey(key("g"), true, 0)).toEqual({ do: "wait" });
    expect(keyboard.handleKey(key("a"), true, 1_000)).toEqual({ do: "go", page: "accounts" });
    keyboard.handleKey(key("g"), true, 2_000);
    expect(keyboard.handleKey(key("a"), true, 9_000)).toBeNull();
    keyboard.handleKey(key("g"), true, 9_000);
    expect(keyboard.handleKey(key("?"), true, 9_100)).toEqual({ do: "help" });
    expect(keyboard.handleKey(key("a"), true, 9_200)).toBeNull();
  });

  it("does nothing while the user types, except for the search", () => {
    const keyboard = new ShortcutParser();
    expect(keyboard.handleKey(key("g"), false, 0)).toBeNull();
    expect(keyboard.handleKey(key("a"), true, 1)).toBeNull();
    expect(keyboard.handleKey(key("?"), false, 2)).toBeNull();
    for (const held of [{ ctrlKey: true }, { metaKey: true }]) {
      expect(keyboard.handleKey(key("k", held), false, 3)).toEqual({ do: "search" });
      expect(keyboard.handleKey(key("z", held), true, 4)).toBeNull();
    }
  });

  it("has a different key for each page", () => {
    expect(new Set(Object.values(PAGE_KEYS)).size).toBe(Object.keys(PAGE_KEYS).length);
  });
});
