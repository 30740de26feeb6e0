import { describe, expect, it, test } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { listSettingFields } from "../../../../../src/operator/admin/configuration/setting-fields.ts";
import de from "../../../../../src/operator/console/languages/de.ts";
import zh from "../../../../../src/operator/console/languages/zh.ts";
import { groupFields } from "../../../../../src/operator/console/pages/settings/localize-fields.ts";
import {
  toSettingChanges,
  updateDraft,
  validateSettings,
} from "../../../../../src/operator/console/pages/settings/settings-draft.ts";

const fields = listSettingFields();

const accepts = (path: string, value: unknown): boolean => {
  const [group = "", field = ""] = path.split(".");
  return configSchema.safeParse({ [group]: { [field]: value } }).success;
};

test.each(fields)("offers a default and bounds that the gateway accepts for $path", (field) => {
  const { path, kind, minimum, maximum, choices } = field;
  expect(accepts(path, field.default)).toBe(true);
  if (minimum !== undefined && path !== "admin.jwt_expire_hours") expect(accepts(path, minimum)).toBe(true);
  if (maximum !== undefined)
    expect([accepts(path, maximum), accepts(path, maximum + 1)]).toEqual([true, false]);
  expect(choices.every(({ value }) => accepts(path, value))).toBe(true);
  // A setting without a title of its own would go by its path.
  expect([field.title === path, field.description === "", field.heading]).toEqual([
    false,
    false,
    expect.stringMatching(/^[A-Z]/),
  ]);
  expect(["integer", "number"].includes(kind)).toBe(typeof field.default === "number");
});

test("has a field for every setting, except tables", () => {
  const paths = fields.map(({ path }) => path);
  expect(paths).toContain("runtime.account_max_inflight");
  expect(paths).toContain("cache.ttl_seconds");
  expect(paths).not.toContain("auto_delete.sessions");
  expect(paths.filter((path) => /model_aliases|prices|has_password_hash/.test(path))).toEqual([]);
  expect(groupFields(fields).map(({ heading }) => heading)).toEqual([
    "Load",
    "Requests",
    "Storage",
    "Callers",
    "Administration",
  ]);
});

describe.each([
  ["German", de],
  ["Chinese", zh],
])("the %s texts of settings", (_, { settings }) => {
  it("exist for each setting, each choice and each heading", () => {
    const translated = settings?.fields ?? {};
    expect(Object.keys(translated).toSorted()).toEqual(fields.map(({ path }) => path).toSorted());
    for (const { path, choices } of fields) {
      expect(Object.keys(translated[path]?.choices ?? {}).toSorted(), path).toEqual(
        choices.map(({ value }) => value).toSorted(),
      );
    }
    expect(Object.keys(settings?.headings ?? {}).toSorted()).toEqual(
      groupFields(fields)
        .map(({ heading }) => heading)
        .toSorted(),
    );
  });
});

describe("a draft of settings", () => {
  const saved = { runtime: { account_max_inflight: 2 }, captures: { enabled: false } };

  it("has only what differs from the saved values", () => {
    const draft = updateDraft({}, saved, "runtime.account_max_inflight", "3") ?? {};
    expect(updateDraft(draft, saved, "captures.enabled", true)).toEqual({
      "runtime.account_max_inflight": "3",
      "captures.enabled": true,
    });
    expect(updateDraft(draft, saved, "runtime.account_max_inflight", "2")).toBeNull();
  });

  it("is sent with numbers as numbers, and names the invalid ones", () => {
    const draft = { "runtime.account_max_inflight": "3", "captures.enabled": true };
    expect(toSettingChanges(draft, fields)).toEqual({
      runtime: { account_max_inflight: 3 },
      captures: { enabled: true },
    });
    expect(validateSettings(draft, fields)).toEqual({});
    for (const text of ["", "0", "257", "1.5", "many"])
      expect(validateSettings({ "runtime.account_max_inflight": text }, fields)).toEqual({
        "runtime.account_max_inflight": "Must be a whole number from 1 to 256.",
      });
    expect(
      validateSettings({ "admin.jwt_expire_hours": "x", "thinking_injection.prompt": "" }, fields),
    ).toEqual({
      "admin.jwt_expire_hours": "Must be a number from 0 to 8,760.",
    });
    expect(validateSettings({ "current_input_file.min_chars": "-1" }, fields)).toEqual({
      "current_input_file.min_chars": "Must be a whole number from 0.",
    });
  });
});
