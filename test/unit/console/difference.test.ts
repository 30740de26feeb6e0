import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { difference } from "../../../src/console/pages/transfer/difference.ts";

const account = (email: string, more: object = {}) => ({ email, password: "p", remark: "", ...more });

describe("the difference of two configurations", () => {
  it("is nothing between equal ones, whatever they hold", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (config) => {
        expect(difference(config, structuredClone(config))).toEqual([]);
      }),
    );
  });

  it("tells members of lists apart by name, so that one more in front is one change", () => {
    const before = { accounts: [account("a@b.c"), account("d@e.f")] };
    const after = { accounts: [account("new@b.c"), account("a@b.c"), account("d@e.f")] };
    expect(difference(before, after)).toEqual([
      { kind: "added", path: ["accounts", "new@b.c"], before: "", after: "" },
    ]);
  });

  it("names the field that changes", () => {
    const before = { runtime: { account_max_inflight: 2 }, accounts: [account("a@b.c", { remark: "old" })] };
    const after = { runtime: { account_max_inflight: 3 }, accounts: [account("a@b.c", { remark: "new" })] };
    expect(difference(before, after)).toEqual([
      { kind: "changed", path: ["runtime", "account_max_inflight"], before: "2", after: "3" },
      { kind: "changed", path: ["accounts", "a@b.c", "remark"], before: "old", after: "new" },
    ]);
  });

  it("tells what goes", () => {
    expect(difference({ model_aliases: { a: "x", b: "y" } }, { model_aliases: { a: "x" } })).toEqual([
      { kind: "removed", path: ["model_aliases", "b"], before: "y", after: "" },
    ]);
  });

  it("shows that a secret changes, but not the secret", () => {
    const changes = difference(
      { accounts: [account("a@b.c")] },
      { accounts: [account("a@b.c", { password: "q" })] },
    );
    expect(changes).toHaveLength(1);
    expect(JSON.stringify(changes)).not.toMatch(/"[pq]"/);
  });

  it("names keys and tokens so that their owner recognises them, but does not show them", () => {
    const changes = difference(
      { keys: ["sk-old-0123456789"], api_keys: [{ key: "sk-kept-0123456789", name: "" }], accounts: [] },
      {
        keys: [],
        api_keys: [{ key: "sk-kept-0123456789", name: "mine" }, { key: "short" }],
        accounts: [{ token: "token-0123456789", remark: "x" }],
      },
    );
    expect(changes).toEqual([
      { kind: "removed", path: ["keys", "sk-o••••6789"], before: "••••", after: "" },
      { kind: "changed", path: ["api_keys", "sk-k••••6789", "name"], before: "", after: "mine" },
      { kind: "added", path: ["api_keys", "••••"], before: "", after: "" },
      { kind: "added", path: ["accounts", "toke••••6789"], before: "", after: "" },
    ]);
  });

  it("leaves the metadata of the hosting sync out", () => {
    expect(difference({ sync: { hash: "1" } }, { sync: { hash: "2" } })).toEqual([]);
  });
});
