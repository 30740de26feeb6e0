import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { toHistoryFilter } from "../../../../../src/operator/admin/history/history-query.ts";
import { createRecordLabeler } from "../../../../../src/operator/admin/history/history-view.ts";
import { write } from "../../../records/archive/support.ts";

const config = configSchema.parse({
  api_keys: [
    { key: "sk-1", id: "key_1", name: "Laptop" },
    { key: "sk-2", id: "key_2", name: "Laptop of Ada" },
  ],
  teams: [{ id: "red", name: "Red team" }],
  accounts: [{ email: "one@x", name: "First" }],
  prices: { "model-a": { input: 2, output: 8, cache_read: 0.5 } },
});

const RECORD = write("hist_1", {
  key: "key_1",
  requested_model: "model-a",
  model: "model-a",
  prompt_tokens: 1_000_000,
  completion_tokens: 500_000,
  cached_tokens: 400_000,
}).summary;

describe("a record of the history", () => {
  it("has its key's name, and its cost at the present prices", async () => {
    const addLabels = await createRecordLabeler(config);
    expect(addLabels(RECORD)).toMatchObject({ id: "hist_1", key_name: "Laptop", cost: 1.2 + 0.2 + 4 });
  });

  it("has null where the key is not configured or the model has no price", async () => {
    const addLabels = await createRecordLabeler(config);
    const unknown = { ...RECORD, key: "caller_9", model: "other", requested_model: "other" };
    expect(addLabels(unknown)).toMatchObject({ key_name: null, cost: null });
  });
});

describe("a filter of the history", () => {
  it.each<[string, Record<string, string[]>, Record<string, string[]>]>([
    ["a name", { key: ["laptop"] }, { key: ["key_1"] }],
    ["an id", { key: ["key_2"] }, { key: ["key_2"] }],
    ["a part of names", { key: ["lap"] }, { key: ["key_1", "key_2"] }],
    ["the id of a deleted key", { key: ["key_9"] }, { key: ["key_9"] }],
    [
      "the name of a team and of an account",
      { team: ["Red"], account: ["first"] },
      { team: ["red"], account: ["one@x"] },
    ],
    ["the default provider", { provider: ["default"] }, { provider: ["default"] }],
  ])("takes %s", async (_, query, wanted) => {
    expect(await toHistoryFilter({ q: "", ...query }, config)).toMatchObject(wanted);
  });
});
