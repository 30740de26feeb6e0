import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import type { HistorySummary } from "../../../../../src/core/ports/archive.ts";
import { toHistoryFilter } from "../../../../../src/operator/admin/history/history-query.ts";
import { createRecordLabeler } from "../../../../../src/operator/admin/history/history-view.ts";

const config = configSchema.parse({
  api_keys: [
    { key: "sk-1", id: "key_1", name: "Laptop" },
    { key: "sk-2", id: "key_2", name: "Laptop of Ada" },
  ],
  teams: [{ id: "red", name: "Red team" }],
  accounts: [{ email: "one@x", name: "First" }],
  prices: { "model-a": { input: 2, output: 8, cache_read: 0.5 } },
});

const RECORD: HistorySummary = {
  id: "hist_1",
  created_at: 0,
  updated_at: 0,
  completed_at: 0,
  request_id: "r",
  key: "key_1",
  dialect: "responses",
  requested_model: "model-a",
  model: "model-a",
  provider: "default",
  account: "one@x",
  attempts: 1,
  tried: [],
  sign_ins: [],
  leased_at: 0,
  first_token_ms: 0,
  source: "",
  stream: false,
  thinking: false,
  status: "success",
  status_code: 200,
  error: "",
  finish_reason: "stop",
  prompt_tokens: 1_000_000,
  completion_tokens: 500_000,
  reasoning_tokens: 0,
  cached_tokens: 400_000,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  image_input_tokens: 0,
  image_output_tokens: 0,
  audio_seconds: 0,
  search_units: 0,
  web_searches: 0,
  web_fetches: 0,
  elapsed_ms: 1,
  request_preview: "",
  response_preview: "",
};

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
