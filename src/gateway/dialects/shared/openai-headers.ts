/** Request headers of clients of the chat-completions and responses styles. */
export const OPENAI_REQUEST_HEADERS: readonly string[] = ["openai-beta", "x-codex-", "originator"];

/** Headers of their answers: full names, or prefixes that end with a hyphen. */
export const OPENAI_ANSWER_HEADERS: readonly string[] = ["openai-", "x-codex-", "x-ratelimit-"];
