import { describe, expect, it } from "vitest";
import type { ProviderView } from "../../../src/console/api/providers.ts";
import { namesWith, unlisted } from "../../../src/console/pages/providers/offered.ts";
import { outagesOf, outageWords } from "../../../src/console/pages/providers/outage-of.ts";
import {
  changesOf,
  DRIVERS,
  draftOf,
  faultsOf,
  fieldsOf,
  refusedField,
} from "../../../src/console/pages/providers/provider-draft.ts";
import { DRIVER_NAMES } from "../../../src/provider/drivers.ts";

const ENGINE: ProviderView = {
  id: "engine",
  name: "Engine",
  driver: "openai",
  base_url: "http://engine.test/v1",
  has_token: true,
  token_preview: "se****en",
  models: { "qwen3:8b": "qwen3:8b", small: "org/small-0.6b" },
  tool_calls: "markup",
  whole_answers: false,
  proxy_id: "office",
  headers: { "X-Title": "ga****ay" },
  account_max_inflight: 8,
  first_byte_timeout_ms: 1_500,
  answer_timeout_ms: 0,
  idle_timeout_ms: 90_000,
  enabled: true,
  accounts: 0,
  read_only: false,
};

describe("the form of a provider", () => {
  it("offers every driver that there is", () => {
    expect(DRIVERS.map(([id]): string => id).sort()).toEqual([...DRIVER_NAMES].sort());
  });

  it("gives back what it was given, and keeps the token", () => {
    const { id, has_token, token_preview, accounts, read_only, ...fields } = ENGINE;
    expect(fieldsOf(draftOf(ENGINE))).toEqual({ ...fields, token: "" });
    expect(faultsOf(draftOf(ENGINE))).toEqual({});
    expect(changesOf(draftOf(ENGINE), ENGINE)).toEqual({});
  });

  it("sends only what was changed, so that models listed meanwhile stay", () => {
    const draft = { ...draftOf(ENGINE), token: " new ", idle_timeout_ms: "2.5", account_max_inflight: "" };
    expect(changesOf(draft, ENGINE)).toEqual({
      token: "new",
      idle_timeout_ms: 2_500,
      account_max_inflight: 0,
    });
  });

  it("takes models and headers one a line", () => {
    const draft = {
      ...draftOf(null),
      models: " llama \n\nbig=org/llama-70b\n a = b=c ",
      headers: "Authorization-2: a: b\nX-Empty:",
    };
    expect(fieldsOf(draft)).toMatchObject({
      models: { llama: "llama", big: "org/llama-70b", a: "b=c" },
      headers: { "Authorization-2": "a: b", "X-Empty": "" },
    });
  });

  it("says at the field what is wrong", () => {
    const wrong = {
      ...draftOf(ENGINE),
      id: " ",
      base_url: "",
      models: "one\n= two",
      headers: "no colon",
      account_max_inflight: "1.5",
      answer_timeout_ms: "-1",
    };
    expect(Object.keys(faultsOf(wrong)).sort()).toEqual([
      "account_max_inflight",
      "answer_timeout_ms",
      "base_url",
      "headers",
      "id",
      "models",
    ]);
    expect(faultsOf({ ...draftOf(ENGINE), models: "one\none = two" }).models).toContain("twice");
  });

  it.each([
    ["base_url: must be an address", { base_url: "must be an address" }],
    ["providers[3].driver: there is none", { driver: "there is none" }],
    ["headers.Host: belongs to the connection", { headers: "Host: belongs to the connection" }],
    ["models.gpt-4.1: too small", { models: "gpt-4.1: too small" }],
    ["a provider with this id exists already", { id: "a provider with this id exists already" }],
    ["the configuration is read-only", null],
    ["accounts[0].provider: does not exist", null],
  ])("finds the field of the refusal %j", (message, fault) => {
    expect(refusedField(message)).toEqual(fault);
  });
});

describe("what is known of providers", () => {
  it("is which are down, and for which models", () => {
    const outage = { kind: "unavailable", reason: "no answer", since: 5 };
    const outages = [
      { ...outage, provider: "", model: "" },
      { ...outage, provider: "engine", model: "a" },
      { ...outage, provider: "engine", model: "b", since: 3 },
      { ...outage, provider: "", model: "c" },
    ];
    expect([...outagesOf({ outages }, "default")]).toEqual([
      ["default", { models: [], reason: "no answer", since: 5 }],
      ["engine", { models: ["a", "b"], reason: "no answer", since: 3 }],
    ]);
    expect(outagesOf(null, "default").size).toBe(0);
  });

  it("is said with the provider's name", () => {
    expect(outageWords("", "")).toBe("The provider is down");
    expect(outageWords("engine", "qwen3:8b")).toBe("The provider engine is down for qwen3:8b");
  });

  it("is which of its models are not listed under any name, and which have a text in theirs", () => {
    expect(unlisted(["qwen3:8b", "org/small-0.6b", "new"], ENGINE.models)).toEqual(["new"]);
    expect(namesWith(["Qwen3:8b", "llama"], " qwen ")).toEqual(["Qwen3:8b"]);
  });
});
