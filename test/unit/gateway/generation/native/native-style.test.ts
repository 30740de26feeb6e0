import { describe, expect, it } from "vitest";
import { nativeContent } from "../../../../../src/gateway/dialects/content-generation/native.ts";
import {
  capMaxTokens,
  selectAnswerHeaders,
} from "../../../../../src/gateway/generation/native/native-style.ts";

const jobOf = (body: object) => ({
  request: {
    dialect: nativeContent.id,
    text: JSON.stringify(body),
    stream: false,
    headers: {},
    query: "",
  },
  style: nativeContent,
  accountStateIds: [],
});

describe("a token limit above the model's maximum", () => {
  it.each([
    ["generationConfig", "maxOutputTokens"],
    ["generationConfig", "max_output_tokens"],
    ["generation_config", "maxOutputTokens"],
    ["generation_config", "max_output_tokens"],
  ])("is lowered in %s.%s", (config, name) => {
    const capped = capMaxTokens(jobOf({ [config]: { [name]: 9000, topK: 3 } }), 4096);
    expect(JSON.parse(capped.text)).toEqual({ [config]: { [name]: 4096, topK: 3 } });
  });

  it("is unchanged if the model can write that much", () => {
    const body = { generationConfig: { maxOutputTokens: 9000 } };
    expect(JSON.parse(capMaxTokens(jobOf(body), 9000).text)).toEqual(body);
    expect(JSON.parse(capMaxTokens(jobOf(body), undefined).text)).toEqual(body);
  });
});

it("passes no headers on that together exceed what clients accept", () => {
  const headers = new Headers({ "x-request-id": "r".repeat(60_000), "x-goog-short": "kept" });
  for (let n = 0; n < 100; n++) headers.set(`x-goog-${n}`, "v".repeat(1_000));
  const selected = selectAnswerHeaders(headers, nativeContent);
  expect(selected).toMatchObject({ "x-goog-0": "v".repeat(1_000) });
  expect(JSON.stringify(selected).length).toBeLessThan(10_000);
  expect(selected).not.toHaveProperty("x-gateway-upstream-request-id");
});
