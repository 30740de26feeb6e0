import { expect, test } from "vitest";
import { getDriver } from "../../../../src/gateway/providers/drivers.ts";

const COMPLETION = { label: "completion", round: { session: null } };
const EMBEDDINGS = { label: "embeddings" };
const MODELS = { label: "models" };
const OTHER = { label: "other" };

test.each([
  ["anthropic", "/anthropic/v1/messages", COMPLETION],
  ["anthropic", "/v1/models", MODELS],
  ["anthropic", "/v1/else", OTHER],
  ["gemini", "/v1beta/models/m:generateContent", COMPLETION],
  ["gemini", "/v1beta/models/m:streamGenerateContent", COMPLETION],
  ["gemini", "/v1beta/models/m:embedContent", EMBEDDINGS],
  ["gemini", "/v1beta/models/m:batchEmbedContents", EMBEDDINGS],
  ["gemini", "/v1beta/models", MODELS],
  ["gemini", "/v1beta/else", OTHER],
  ["openai", "/v1/chat/completions", COMPLETION],
  ["openai", "/v1/embeddings", EMBEDDINGS],
  ["openai", "/v1/models", MODELS],
  ["openai", "/v1/else", OTHER],
  ["openai-responses", "/v1/responses", COMPLETION],
  ["openai-responses", "/v1/embeddings", EMBEDDINGS],
  ["openai-responses", "/v1/models", MODELS],
  ["openai-responses", "/v1/else", OTHER],
] as const)("an exchange of the driver %s at %s has its label", (driver, path, label) => {
  expect(getDriver(driver).classifyExchange(path)).toEqual(label);
});
