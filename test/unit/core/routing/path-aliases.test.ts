import { expect, test } from "vitest";
import { findPathAlias } from "../../../../src/core/routing/path-aliases.ts";

test.each([
  ["/openai/v1/chat/completions", { path: "/v1/chat/completions" }],
  ["/openai/v1/files/file-1/content", { path: "/v1/files/file-1/content" }],
  ["/openai/batches", { path: "/v1/batches" }],
  ["/openai/deployments/oa/chat/chat/completions", { path: "/v1/chat/completions", model: "oa/chat" }],
  ["/openai/deployments/oa%2Fchat/chat/completions", { path: "/v1/chat/completions", model: "oa/chat" }],
  ["/openai/deployments/m/completions/", { path: "/v1/completions", model: "m" }],
  ["/openai/deployments/a%20b/audio/transcriptions", { path: "/v1/audio/transcriptions", model: "a b" }],
  ["/v1beta/openai/images/generations", { path: "/v1/images/generations" }],
])("leads to the gateway's own endpoint: %s", (path, alias) => {
  expect(findPathAlias(path)).toEqual(alias);
});

test.each([
  "/v1/chat/completions",
  "/openai",
  "/openapi.json",
  "/v1beta/models/m:generateContent",
  "/openai/deployments//chat/completions",
  "/openai/deployments/m/unknown",
  "/openai/deployments/%zz/embeddings",
])("is no alias: %s", (path) => {
  expect(findPathAlias(path)).toBeNull();
});
