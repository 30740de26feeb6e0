import { describe, expect, it } from "vitest";
import { groupChanges } from "../../../../src/operator/console/pages/transfer/group-changes.ts";
import { compareVersions } from "../../../../src/operator/console/ui/forms/edit-versions.ts";

describe("two versions of an entry", () => {
  it("differ only in fields of the edit, which are named by their paths", () => {
    const edit = { name: "mine", limits: { parallel: 2, tokens_per_day: 5 }, models: ["a"] };
    const current = { name: "theirs", limits: { parallel: 2 }, models: ["a"], remark: "more" };
    expect(compareVersions(edit, current)).toEqual([
      { path: "name", mine: "mine", current: "theirs" },
      { path: "limits.tokens_per_day", mine: "5", current: "" },
    ]);
  });

  it("do not show secrets", () => {
    const versions = compareVersions({ password: "new-password", auth: { token: "t" } }, { password: "" });
    expect(JSON.stringify(versions)).not.toMatch(/new-password|"t"/);
    expect(versions.map(({ path }) => path)).toEqual(["password", "auth.token"]);
  });

  it("compare entries of lists by their ids, and include those of one version only", () => {
    const rule = { id: "cards", type: "expressions", disabled: false };
    const edit = {
      rules: [
        { ...rule, disabled: true },
        { id: "mine", name: "My rule", token: "t" },
      ],
    };
    const current = { rules: [rule, { id: "theirs", name: "" }] };
    expect(compareVersions(edit, current)).toEqual([
      { path: "rules[cards].disabled", mine: "true", current: "false" },
      { path: "rules[mine]", mine: "My rule", current: "" },
      { path: "rules[theirs]", mine: "", current: "theirs" },
    ]);
  });
});

describe("the changes of an import", () => {
  it("are grouped by part, with the names of deleted entries separately", () => {
    const change = (path: string, before: string | null, after: string | null) => ({ path, before, after });
    const changed = change("accounts[one@x].remark", null, "x");
    const cleared = change("runtime.limit", "1", null);
    const removed = [
      { path: "accounts", names: ["two@x"] },
      { path: "prices", names: ["gpt-4.1"] },
    ];
    const changes = [
      change("accounts[two@x]", "{}", null),
      changed,
      change("prices.gpt-4.1", "{}", null),
      cleared,
    ];
    expect(groupChanges({ changes, removed })).toEqual([
      { part: "accounts", deleted: ["two@x"], others: [changed] },
      { part: "prices", deleted: ["gpt-4.1"], others: [] },
      { part: "runtime", deleted: [], others: [cleared] },
    ]);
  });
});
