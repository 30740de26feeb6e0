import { describe, expect, it } from "vitest";
import { changesOf, edited, valueAt } from "../../../src/console/pages/settings/draft.ts";
import { SETTING_GROUPS } from "../../../src/console/pages/settings/setting-list.ts";

const settings = { runtime: { account_max_inflight: 2 }, thinking_injection: { enabled: true, prompt: "" } };

describe("unsaved settings", () => {
  it("hold what was changed, grouped, with numbers as numbers", () => {
    let draft = edited({}, settings, "runtime.account_max_inflight", "4");
    draft = edited(draft, settings, "thinking_injection.enabled", false);
    expect(changesOf(draft, new Set(["runtime.account_max_inflight"]))).toEqual({
      runtime: { account_max_inflight: 4 },
      thinking_injection: { enabled: false },
    });
  });

  it("forget what was changed back", () => {
    const draft = edited({}, settings, "runtime.account_max_inflight", "4");
    expect(edited(draft, settings, "runtime.account_max_inflight", "2")).toEqual({});
    expect(edited({}, settings, "thinking_injection.enabled", true)).toEqual({});
  });

  it("refuse what is no number, by name", () => {
    expect(() => changesOf({ "a.b": "" }, new Set(["a.b"]))).toThrow("a.b must be a number");
    expect(() => changesOf({ "a.b": "x" }, new Set(["a.b"]))).toThrow("a.b must be a number");
  });
});

describe("the list of settings", () => {
  const all = SETTING_GROUPS.flatMap((group) => group.settings);

  it("has each setting once, with its meaning and default", () => {
    expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
    for (const { meaning, standard } of all) expect(meaning.length * standard.length).toBeGreaterThan(0);
  });

  it("reads values by path", () => {
    expect(valueAt(settings, "runtime.account_max_inflight")).toBe(2);
    expect(valueAt(settings, "runtime.nothing")).toBeUndefined();
    expect(valueAt(settings, "runtime.account_max_inflight.deeper")).toBeUndefined();
  });
});
