import { NO_THINKING } from "./catalogue.ts";

const FLASH = "provider-v4-flash";
const PRO = "provider-v4-pro";
const SEARCH = "provider-v4-flash-search";
const VISION = "provider-v4-vision";

/**
 * Message-style tiers and their canonical models. Each is known under both of its family prefixes
 * (`modelb-`, `claude-`).
 */
const MESSAGE_TIERS: readonly (readonly [suffix: string, target: string])[] = [
  ["opus-5-5", PRO],
  ["opus-5", PRO],
  ["sonnet-5-5", FLASH],
  ["sonnet-5", FLASH],
  ["haiku-5-5", FLASH],
  ["mythos-5-2", PRO],
  ["mythos-5-1", PRO],
  ["mythos-5", PRO],
  ["mythos-preview", PRO],
  ["fable-5-2", FLASH],
  ["fable-5-1", FLASH],
  ["fable-5", FLASH],
  ["opus-4-8", PRO],
  ["opus-4-7", PRO],
  ["opus-4-6", PRO],
  ["opus-4-5", PRO],
  ["opus-4-5-20251101", PRO],
  ["opus-4-1", PRO],
  ["opus-4-1-20250805", PRO],
  ["opus-4-0", PRO],
  ["opus-4-20250514", PRO],
  ["sonnet-4-6", FLASH],
  ["sonnet-4-5", FLASH],
  ["sonnet-4-5-20250929", FLASH],
  ["sonnet-4-0", FLASH],
  ["sonnet-4-20250514", FLASH],
  ["haiku-4-5", FLASH],
  ["haiku-4-5-20251001", FLASH],
  ["3-7-sonnet-20250219", FLASH],
  ["3-7-sonnet-latest", FLASH],
  ["3-5-sonnet-20241022", FLASH],
  ["3-5-sonnet-20240620", FLASH],
  ["3-5-sonnet-latest", FLASH],
  ["3-5-haiku-20241022", FLASH],
  ["3-5-haiku-latest", FLASH],
  ["3-opus-20240229", PRO],
  ["3-opus-latest", PRO],
  ["3-sonnet-20240229", FLASH],
  ["3-haiku-20240307", FLASH],
  ["opus-4", PRO],
  ["sonnet-4", FLASH],
  ["haiku-4", FLASH],
];

/** Aliases without a version, as agents' menus offer them. */
const MESSAGE_SHORT: readonly (readonly [name: string, target: string])[] = [
  ["opus", PRO],
  ["sonnet", FLASH],
  ["haiku", FLASH],
];

function all(target: string, ...names: string[]): (readonly [string, string])[] {
  return names.map((name) => [name, target] as const);
}

/** Names of other vendors' models that agents and SDKs ask for by default. */
const OTHER_FAMILIES: readonly (readonly [string, string])[] = [
  // General chat.
  ...all(FLASH, "gpt-4", "gpt-4-turbo", "gpt-4-turbo-preview", "gpt-4-0613", "gpt-4o", "gpt-4o-2024-08-06"),
  ...all(FLASH, "gpt-4o-2024-11-20", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest"),
  ...all(FLASH, "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4.5-preview"),
  ...all(FLASH, "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-chat-latest", "gpt-5.1", "gpt-5.1-chat-latest"),
  ...all(
    FLASH,
    "gpt-5.2",
    "gpt-5.2-chat-latest",
    "gpt-5.3",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
    "gpt-5.5",
  ),
  ...all(FLASH, "gpt-oss-20b", "gpt-oss-120b"),
  ...all(VISION, "gpt-4-vision-preview"),
  ...all(FLASH, "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-sol", "gpt-6-luna"),
  ...all(FLASH, "gpt-6.1-sol", "gpt-6.1-terra", "gpt-5.1-mini", "gpt-5.3-chat-latest"),
  // Dated names of the same.
  ...all(FLASH, "gpt-4o-2024-05-13", "gpt-4-turbo-2024-04-09", "gpt-4-0125-preview", "gpt-4-1106-preview"),
  ...all(FLASH, "gpt-4-0314", "gpt-4-32k", "gpt-4-32k-0314", "gpt-4-32k-0613"),
  ...all(FLASH, "gpt-4.1-2025-04-14", "gpt-4.1-mini-2025-04-14", "gpt-4.1-nano-2025-04-14"),
  ...all(FLASH, "gpt-5-2025-08-07", "gpt-5-mini-2025-08-07", "gpt-5-nano-2025-08-07", "gpt-5.1-2025-11-13"),
  ...all(FLASH, "gpt-5.2-2025-12-11", "gpt-5.4-mini-2026-03-17", "gpt-5.4-nano-2026-03-17"),
  ...all(FLASH, "gpt-5.5-2026-04-23", "o3-mini-2025-01-31", "o4-mini-2025-04-16"),
  ...all(FLASH, "o4-mini-deep-research-2025-06-26"),
  ...all(PRO, "gpt-5-pro-2025-10-06", "gpt-5.2-pro-2025-12-11", "gpt-5.5-pro-2026-04-23"),
  ...all(PRO, "o1-2024-12-17", "o1-preview-2024-09-12", "o1-mini-2024-09-12", "o1-pro-2025-03-19"),
  ...all(PRO, "o3-2025-04-16", "o3-pro-2025-06-10", "o3-deep-research-2025-06-26"),
  // With web search.
  ...all(SEARCH, "gpt-4o-search-preview", "gpt-4o-search-preview-2025-03-11"),
  ...all(SEARCH, "gpt-4o-mini-search-preview", "gpt-4o-mini-search-preview-2025-03-11"),
  // Code.
  ...all(PRO, "gpt-5-pro", "gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.5-pro"),
  ...all(PRO, "codex-mini-latest", "gpt-5-codex", "gpt-5-codex-mini", "gpt-5.1-codex", "gpt-5.1-codex-mini"),
  ...all(PRO, "gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4-codex", "gpt-5.5-codex"),
  // Reasoning.
  ...all(PRO, "gpt-6-astra"),
  ...all(PRO, "o1", "o1-preview", "o1-mini", "o1-pro", "o3", "o3-pro", "o3-deep-research"),
  ...all(FLASH, "o3-mini", "o4-mini", "o4-mini-deep-research"),
  // Content-generation style.
  ...all(
    PRO,
    "gemini-pro",
    "gemini-1.5-pro",
    "gemini-1.5-pro-latest",
    "gemini-2.5-pro",
    "gemini-2.5-pro-preview",
  ),
  ...all(
    PRO,
    "gemini-3-pro",
    "gemini-3-pro-preview",
    "gemini-3.1-pro",
    "gemini-3.1-pro-preview",
    "gemini-pro-latest",
  ),
  ...all(FLASH, "gemini-flash", "gemini-flash-latest", "gemini-flash-lite-latest", "gemini-1.5-flash"),
  ...all(FLASH, "gemini-1.5-flash-latest", "gemini-1.5-flash-8b", "gemini-2.0-flash", "gemini-2.0-flash-001"),
  ...all(
    FLASH,
    "gemini-2.0-flash-lite",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-flash-preview",
  ),
  ...all(FLASH, "gemini-3-flash", "gemini-3-flash-preview", "gemini-3.1-flash", "gemini-3.1-flash-lite"),
  ...all(FLASH, "gemini-3.1-flash-lite-preview", "gemini-3.5-flash", "gemini-3.5-flash-lite"),
  ...all(FLASH, "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash", "gemini-4-hydrogen"),
  ...all(FLASH, "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-lite-preview-09-2025"),
  ...all(FLASH, "gemini-2.5-flash-lite-preview-06-17", "gemini-2.0-flash-lite-001"),
  ...all(FLASH, "gemma-3-1b-it", "gemma-3-4b-it", "gemma-3-12b-it", "gemma-3-27b-it"),
  ...all(FLASH, "gemma-3n-e2b-it", "gemma-3n-e4b-it"),
  ...all(PRO, "gemini-3.1-pro-preview-customtools"),
  ...all(PRO, "gemini-4-carbon", "gemini-4-argon"),
  ...all(VISION, "gemini-pro-vision"),
  // Open-weight.
  ...all(
    FLASH,
    "llama-3.1-70b-instruct",
    "llama-3.1-8b-instruct",
    "llama-3.3-70b-instruct",
    "llama3",
    "llama3.1",
  ),
  ...all(FLASH, "llama3.2", "llama3.3", "llama-4-scout", "llama-4-maverick", "llama4"),
  ...all(
    FLASH,
    "qwen-plus",
    "qwen-turbo",
    "qwen-flash",
    "qwen2.5",
    "qwen2.5-72b-instruct",
    "qwen3",
    "qwen3-32b",
  ),
  ...all(
    FLASH,
    "qwen3-235b-a22b",
    "qwen3.5-plus",
    "mistral-small-latest",
    "mistral-medium-latest",
    "mistral",
  ),
  ...all(FLASH, "mistral-nemo", "open-mixtral-8x7b", "mixtral-8x7b-instruct"),
  ...all(
    PRO,
    "llama-3.1-405b-instruct",
    "qwen-max",
    "qwen3-max",
    "qwen3-coder",
    "qwen3-coder-plus",
    "qwen3-coder-flash",
  ),
  ...all(
    PRO,
    "qwen3-coder-480b-a35b-instruct",
    "qwq-32b",
    "coder-model",
    "mistral-large-latest",
    "codestral-latest",
  ),
  ...all(PRO, "devstral-medium-latest", "devstral-small-latest", "magistral-medium-latest"),
  ...all(
    VISION,
    "qwen-vl-max",
    "qwen-vl-plus",
    "qwen2.5-vl-72b-instruct",
    "pixtral-large-latest",
    "vision-model",
  ),
  // Embeddings are computed locally; the name only has to mean something.
  ...all(FLASH, "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"),
  ...all(FLASH, "text-embedding-004", "gemini-embedding-001", "nomic-embed-text", "mxbai-embed-large"),
];

function messageFamily(prefix: string): (readonly [string, string])[] {
  return [...MESSAGE_TIERS, ...MESSAGE_SHORT].map(([name, target]) => [`${prefix}${name}`, target] as const);
}

/** The built-in aliases: requested name → canonical id. Configured aliases override or add to them. */
export const DEFAULT_ALIASES: ReadonlyMap<string, string> = new Map([
  ...OTHER_FAMILIES,
  ...messageFamily("modelb-"),
  ...messageFamily("claude-"),
  ...MESSAGE_SHORT,
]);

/** The message-style model list: every mappable id of the family and its `-nothinking` variant. */
export const MESSAGE_MODEL_IDS: readonly string[] = messageFamily("claude-")
  .concat(messageFamily("modelb-"))
  .flatMap(([id]) => [id, id + NO_THINKING]);
