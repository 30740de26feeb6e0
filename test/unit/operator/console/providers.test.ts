import { describe, expect, it } from "vitest";
import { DRIVER_NAMES } from "../../../../src/gateway/providers/drivers.ts";
import type { ProviderView } from "../../../../src/operator/console/api/providers.ts";
import * as modelDraft from "../../../../src/operator/console/pages/providers/model-draft.ts";
import {
  formatAbilities,
  formatModelCount,
  formatPrice,
  formatSchedule,
  formatSizes,
  listModels,
  searchModels,
} from "../../../../src/operator/console/pages/providers/model-list.ts";
import {
  findIncomplete,
  findRemoved,
  findUnlisted,
  searchNames,
} from "../../../../src/operator/console/pages/providers/offered-names.ts";
import {
  changedProviderFields,
  DRIVERS,
  toProviderDraft,
  toProviderFields,
  validateProviderDraft,
} from "../../../../src/operator/console/pages/providers/provider-draft.ts";
import {
  describeOutage,
  describeTrouble,
  findOutages,
  findTroubles,
  findTroublesBesideOutages,
} from "../../../../src/operator/console/shared/provider-outages.ts";
import { findProviderState } from "../../../../src/operator/console/shared/provider-state.ts";

const ENGINE: ProviderView = {
  id: "engine",
  name: "Engine",
  driver: "openai",
  base_url: "http://engine.test/v1",
  unpriced_models: 0,
  used: {
    parallel: 0,
    requests_per_minute: 0,
    tokens_per_minute: 0,
    tokens_per_day: 0,
    tokens_per_month: 0,
    cost_per_day: 0,
    cost_per_month: 0,
  },
  has_token: true,
  token_preview: "se****en",
  models: {
    "qwen3:8b": "qwen3:8b",
    small: {
      upstream: "org/small-0.6b",
      enabled: false,
      thinking: true,
      vision: false,
      context: 32_768,
      output: 4_096,
      price: { input: 1, output: 2.5, cache_read: 0, cache_write_5m: 1.25, cache_write_1h: 2 },
    },
  },
  tool_calls: "markup",
  whole_answers: false,
  native: true,
  pipe_streams: true,
  active_probes: true,
  drop_params: ["seed", "tools.function.strict"],
  proxy_id: "office",
  api_version: "2024-10-21",
  key_header: "api-key",
  headers: { "X-Title": "ga****ay" },
  account_max_inflight: 8,
  cache: { ttl_seconds: 600 },
  max_concurrent: 0,
  limits: { cost_per_day: 2.5, max_parallel: 4 },
  strategy: "least_busy",
  affinity_wait_ms: 1_500,
  first_byte_timeout_ms: 1_500,
  answer_timeout_ms: 0,
  idle_timeout_ms: 90_000,
  models_refresh_hours: 24,
  new_models: "off",
  models_asked: null,
  health: "healthy",
  trace_context: false,
  last_error: null,
  enabled: true,
  accounts: 0,
  needs_account: false,
  read_only: false,
};

const MODELS = listModels(ENGINE);

describe("the form of a provider", () => {
  it("offers every existing driver", () => {
    expect(DRIVERS.map(([id]): string => id).sort()).toEqual([...DRIVER_NAMES].sort());
  });

  it("keeps its values and the stored token", () => {
    const { id, has_token, token_preview, models, accounts, needs_account, read_only, ...rest } = ENGINE;
    const { models_asked, unpriced_models, used, health, last_error, ...fields } = rest;
    expect(toProviderFields(toProviderDraft(ENGINE))).toEqual({ ...fields, token: "" });
    expect(validateProviderDraft(toProviderDraft(ENGINE))).toEqual({});
    expect(changedProviderFields(toProviderDraft(ENGINE), ENGINE)).toEqual({});
  });

  it("sends only changed fields, so that models listed meanwhile stay", () => {
    const draft = {
      ...toProviderDraft(ENGINE),
      token: " new ",
      idle_timeout_ms: "2.5",
      account_max_inflight: "",
    };
    expect(changedProviderFields(draft, ENGINE)).toEqual({
      token: "new",
      idle_timeout_ms: 2_500,
      account_max_inflight: 0,
    });
  });

  it("accepts one header per line", () => {
    const draft = { ...toProviderDraft(null), headers: "Authorization-2: a: b\n\n X-Empty:" };
    expect(toProviderFields(draft).headers).toEqual({ "Authorization-2": "a: b", "X-Empty": "" });
  });

  it("names the fields with errors", () => {
    const wrong = {
      ...toProviderDraft(ENGINE),
      id: " ",
      base_url: "",
      headers: "no colon",
      account_max_inflight: "1.5",
      answer_timeout_ms: "-1",
      models_refresh_hours: "9000",
    };
    expect(Object.keys(validateProviderDraft(wrong)).sort()).toEqual([
      "account_max_inflight",
      "answer_timeout_ms",
      "base_url",
      "headers",
      "id",
      "models_refresh_hours",
    ]);
  });
});

describe("the state of providers", () => {
  it("includes outages, with their models", () => {
    const outage = { kind: "unreachable", reason: "no answer", since: 5 } as const;
    const outages = [
      { ...outage, provider: "", model: "" },
      { ...outage, provider: "engine", model: "a" },
      { ...outage, provider: "engine", model: "b", since: 3 },
      { ...outage, provider: "", model: "c" },
    ];
    expect([...findOutages({ outages })]).toEqual([
      ["default", { models: [], reason: "no answer", since: 5 }],
      ["engine", { models: ["a", "b"], reason: "no answer", since: 3 }],
    ]);
    expect(findOutages(null).size).toBe(0);
  });

  it("includes failing providers, without those whose outage is shown", () => {
    const trouble = (provider: string, health: "down" | "degraded") => ({
      provider,
      health,
      last_error: null,
    });
    const outage = (provider: string, model: string) => ({
      provider,
      model,
      kind: "unreachable" as const,
      reason: "no answer",
      since: 5,
    });
    const troubles = [trouble("", "down"), trouble("engine", "down"), trouble("other", "degraded")];
    expect([...findTroubles({ troubles }).keys()]).toEqual(["default", "engine", "other"]);
    expect(findTroubles(null).size).toBe(0);
    const beside = (...outages: ReturnType<typeof outage>[]) =>
      findTroublesBesideOutages({ troubles, outages }).map(({ provider }) => provider);
    expect(beside()).toEqual(["", "engine", "other"]);
    expect(beside(outage("", ""), outage("engine", "a"), outage("other", "a"))).toEqual(["engine"]);
    expect(troubles.map(describeTrouble)).toEqual([
      "The provider is down",
      "The provider engine is down",
      "The provider other has elevated errors",
    ]);
  });

  it("has the worst problem as its label", () => {
    const label = (known: Partial<Parameters<typeof findProviderState>[0]>) =>
      findProviderState({ outage: undefined, trouble: undefined, asked: null, ...known })?.label;
    const outage = (...models: string[]) => ({ models, reason: "no answer", since: 5 });
    const trouble = (health: "down" | "degraded") => ({
      provider: "p",
      health,
      last_error: { reason: "refused", at: 7 },
    });
    const asked = { at: 1, error: "no list", added: 0 };
    expect(label({})).toBeUndefined();
    expect(label({ asked })).toBe("model list unavailable");
    expect(label({ asked, trouble: trouble("degraded") })).toBe("degraded");
    expect(label({ trouble: trouble("down") })).toBe("down");
    expect(label({ outage: outage("a"), trouble: trouble("degraded") })).toBe("down for 1 model");
    expect(label({ outage: outage("a"), trouble: trouble("down") })).toBe("down");
    expect(label({ outage: outage(), trouble: trouble("down") })).toBe("down");
  });

  it("is described with the provider's name", () => {
    expect(describeOutage("", "")).toBe("The provider is down");
    expect(describeOutage("engine", "qwen3:8b")).toBe("The provider engine is down for qwen3:8b");
  });

  it("includes offered names that are not listed, and listed models that are no longer offered", () => {
    expect(findUnlisted(["qwen3:8b", "org/small-0.6b", "new"], MODELS)).toEqual(["new"]);
    expect(findRemoved(["qwen3:8b", "new"], MODELS).map(({ name }) => name)).toEqual(["small"]);
    expect(searchNames(["Qwen3:8b", "llama"], " qwen ")).toEqual(["Qwen3:8b"]);
  });
});

describe("the models of a provider", () => {
  it("are described in words, and unknown ones are omitted", () => {
    expect(MODELS.map(formatAbilities)).toEqual(["", "thinking, no images"]);
    expect(MODELS.map(formatSizes)).toEqual(["", "32,768 tokens, 4,096 out"]);
    expect(MODELS.map(formatPrice)).toEqual(["", "1 in, 2.5 out a million"]);
    expect(formatModelCount(MODELS)).toBe("2 models, 1 disabled");
    expect(formatModelCount(MODELS.slice(0, 1))).toBe("1 model");
  });

  it("describe the refresh schedule, with the time and the result of the last refresh", () => {
    const plan = "Model list is refreshed every 24 hours; new models are off.";
    expect(formatSchedule(ENGINE)).toBe(plan);
    expect(formatSchedule({ ...ENGINE, models_refresh_hours: 0 })).toBe("");
    const asked = { at: Date.UTC(2026, 0, 1), error: "", added: 2 };
    expect(formatSchedule({ ...ENGINE, models_asked: asked })).toMatch(/^Model list .* Last on .*: 2 new\.$/);
    const failed = { ...asked, error: "No (unreachable)", added: 0 };
    expect(formatSchedule({ ...ENGINE, models_asked: failed })).toMatch(/: No \(unreachable\)\.$/);
  });

  it("are found by either of their names", () => {
    expect(searchModels(MODELS, " ORG/ ").map(({ name }) => name)).toEqual(["small"]);
    expect(searchModels(MODELS, "")).toEqual(MODELS);
  });

  it.each(MODELS)("keep their values in the form: $name", (model) => {
    const draft = modelDraft.toModelDraft(model);
    expect(modelDraft.validateModelDraft(draft, [])).toEqual({});
    const { name, ...said } = model;
    const unsaid = { thinking: null, vision: null, search: null, context: null, output: null, price: null };
    const upstream = model.upstream === name ? null : model.upstream;
    expect(modelDraft.toModelFields(draft)).toEqual({ ...unsaid, ...said, upstream });
  });

  it("have prices for reasoning, audio, images and searches", () => {
    const price = { input: 1, output: 2, reasoning: 0, audio_hour: 0.36, image_output: 30 };
    const [model = null] = listModels({ ...ENGINE, models: { sound: { price } } });
    const before = modelDraft.toModelDraft(model);
    const prices = { ...before.price, output: "3", audio_hour: " ", web_searches_1k: "10" };
    const { price: changed } = modelDraft.toModelFields({ ...before, price: prices });
    expect(changed).toEqual({ input: 1, output: 3, reasoning: 0, image_output: 30, web_searches_1k: 10 });
  });

  it("of an older version have their price for cached tokens under its current name", () => {
    const older = { large: { price: { input: 1, cached_input: 0.5, output: 2 } } };
    const [model = null] = listModels({ ...ENGINE, models: older });
    const { price } = modelDraft.toModelFields(modelDraft.toModelDraft(model));
    expect(price).toEqual({ input: 1, cache_read: 0.5, output: 2 });
  });

  it("have errors at the fields that are invalid", () => {
    const draft = {
      ...modelDraft.toModelDraft(null),
      name: " small ",
      context: "0",
      output: "1.5",
      price: { output: "-1", reasoning: "1e999" },
    };
    expect(Object.keys(modelDraft.validateModelDraft(draft, ["small"])).sort()).toEqual([
      "context",
      "name",
      "output",
      "price.output",
      "price.reasoning",
    ]);
    expect(modelDraft.validateModelDraft(modelDraft.toModelDraft(null), [])["name"]).toContain(
      "Enter a name",
    );
  });
});

it("finds models that lack known details", () => {
  const price = { input: 1, output: 2 };
  const models = listModels({
    models: { a: "a", b: { price, context: 5 }, house: { upstream: "c" }, d: "d" },
  });
  const details = new Map([
    ["a", { context: 5 }],
    ["b", { price: { input: 3, output: 4 }, context: 9 }],
    ["c", { price }],
  ]);
  expect(findIncomplete(models, details).map(({ name }) => name)).toEqual(["a", "house"]);
});
