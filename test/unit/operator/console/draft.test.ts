import { describe, expect, it } from "vitest";
import { SETTING_GROUPS } from "../../../../src/operator/console/pages/settings/setting-list.ts";
import {
  findRejectedSetting,
  getValue,
  toSettingChanges,
  updateDraft,
  validateSettings,
} from "../../../../src/operator/console/pages/settings/settings-draft.ts";

const all = SETTING_GROUPS.flatMap((group) => group.settings);
const settings = { runtime: { account_max_inflight: 2 }, thinking_injection: { enabled: true, prompt: "" } };

describe("unsaved settings", () => {
  it("hold what was changed, grouped, with numbers as numbers", () => {
    let draft = updateDraft({}, settings, "runtime.account_max_inflight", "4");
    draft = updateDraft(draft, settings, "thinking_injection.enabled", false);
    expect(toSettingChanges(draft, new Set(["runtime.account_max_inflight"]))).toEqual({
      runtime: { account_max_inflight: 4 },
      thinking_injection: { enabled: false },
    });
  });

  it("forget what was changed back", () => {
    const draft = updateDraft({}, settings, "runtime.account_max_inflight", "4");
    expect(updateDraft(draft, settings, "runtime.account_max_inflight", "2")).toEqual({});
    expect(updateDraft({}, settings, "thinking_injection.enabled", true)).toEqual({});
  });

  it.each([
    ["runtime.account_max_inflight", "", "Must be a whole number from 1 to 256."],
    ["runtime.account_max_inflight", "257", "Must be a whole number from 1 to 256."],
    ["runtime.account_max_inflight", "2.5", "Must be a whole number from 1 to 256."],
    ["admin.jwt_expire_hours", "x", "Must be a number from 0.01 to 8,760."],
  ])("say of %s what is wrong with %j", (path, value, fault) => {
    expect(validateSettings({ [path]: value }, all)).toEqual({ [path]: fault });
  });

  it("are fine within their range, and where they are no numbers", () => {
    const draft = { "runtime.account_max_inflight": "256", "admin.jwt_expire_hours": "0.5" };
    expect(validateSettings({ ...draft, "thinking_injection.prompt": "" }, all)).toEqual({});
  });

  it("know which of them the gateway refuses", () => {
    expect(findRejectedSetting("runtime.account_max_inflight: Too big", all)).toEqual({
      path: "runtime.account_max_inflight",
      fault: "Too big",
    });
    expect(findRejectedSetting("The configuration is read-only.", all)).toBeNull();
  });
});

describe("the list of settings", () => {
  it("has each setting once, with its meaning and default", () => {
    expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
    for (const { meaning, standard } of all) expect(meaning.length * standard.length).toBeGreaterThan(0);
  });

  it("reads values by path", () => {
    expect(getValue(settings, "runtime.account_max_inflight")).toBe(2);
    expect(getValue(settings, "runtime.nothing")).toBeUndefined();
    expect(getValue(settings, "runtime.account_max_inflight.deeper")).toBeUndefined();
  });
});
