import type { RequestUsage } from "../../../../src/core/ports/usage.ts";

/** A request that succeeded. */
export function used(changes: Partial<RequestUsage> = {}): RequestUsage {
  return {
    key: "key_1",
    requested_model: "gpt",
    model: "flash",
    provider: "sandbox",
    account: "one@test",
    dialect: "chat-completions",
    operation: "chat",
    outcome: "success",
    team: "",
    user: "",
    tag: "",
    status: 200,
    code: "",
    promptTokens: 10,
    cachedTokens: 4,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    imageInputTokens: 0,
    imageOutputTokens: 0,
    audioSeconds: 0,
    searchUnits: 0,
    webSearches: 0,
    webFetches: 0,
    completionTokens: 5,
    reasoningTokens: 2,
    attempts: 1,
    durationMs: 100,
    firstTokenMs: 20,
    queueMs: 0,
    ...changes,
  };
}
