import { describe, expect, it } from "vitest";
import { Keyboard, PAGE_KEYS } from "../../../src/console/shortcuts.ts";

const key = (name: string, more: object = {}) => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

describe("the keyboard", () => {
  it("goes to a page by two keys, one soon after the other", () => {
    const keyboard = new Keyboard();
    expect(keyboard.press(key("a"), true, 0)).toBeNull();
    expect(keyboard.press(key("g"), true, 0)).toEqual({ do: "wait" });
    expect(keyboard.press(key("a"), true, 1_000)).toEqual({ do: "go", page: "accounts" });
    keyboard.press(key("g"), true, 2_000);
    expect(keyboard.press(key("a"), true, 9_000)).toBeNull();
    keyboard.press(key("g"), true, 9_000);
    expect(keyboard.press(key("?"), true, 9_100)).toEqual({ do: "help" });
    expect(keyboard.press(key("a"), true, 9_200)).toBeNull();
  });

  it("does nothing while one types, but for the search", () => {
    const keyboard = new Keyboard();
    expect(keyboard.press(key("g"), false, 0)).toBeNull();
    expect(keyboard.press(key("a"), true, 1)).toBeNull();
    expect(keyboard.press(key("?"), false, 2)).toBeNull();
    for (const held of [{ ctrlKey: true }, { metaKey: true }]) {
      expect(keyboard.press(key("k", held), false, 3)).toEqual({ do: "search" });
      expect(keyboard.press(key("z", held), true, 4)).toBeNull();
    }
  });

  it("has a key of its own for each page", () => {
    expect(new Set(Object.values(PAGE_KEYS)).size).toBe(Object.keys(PAGE_KEYS).length);
  });
});
