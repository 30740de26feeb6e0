import { type Alias, FLASH, PRO, SEARCH, toAliases, VISION } from "./alias.ts";
import { toDottedFamilyAliases, toFamilyAliases } from "./message-model-aliases.ts";

/** A vendor: its prefixes in routers and model hubs, and the names of its models. */
export interface Vendor {
  readonly prefixes: readonly string[];
  readonly names: readonly Alias[];
}

const OPENAI: readonly Alias[] = [
  // General chat.
  ...toAliases(
    FLASH,
    "gpt-4",
    "gpt-4-turbo",
    "gpt-4-turbo-preview",
    "gpt-4-0613",
    "gpt-4o",
    "gpt-4o-2024-08-06",
  ),
  ...toAliases(FLASH, "gpt-4o-2024-11-20", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest"),
  ...toAliases(FLASH, "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4.5-preview"),
  ...toAliases(
    FLASH,
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-5-chat-latest",
    "gpt-5.1",
    "gpt-5.1-chat-latest",
  ),
  ...toAliases(
    FLASH,
    "gpt-5.2",
    "gpt-5.2-chat-latest",
    "gpt-5.3",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
    "gpt-5.5",
  ),
  ...toAliases(FLASH, "gpt-oss-20b", "gpt-oss-120b"),
  ...toAliases(VISION, "gpt-4-vision-preview"),
  ...toAliases(FLASH, "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-sol", "gpt-6-luna"),
  ...toAliases(FLASH, "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-5.1-mini", "gpt-5.3-chat-latest"),
  // Dated versions of the same models.
  ...toAliases(
    FLASH,
    "gpt-4o-2024-05-13",
    "gpt-4-turbo-2024-04-09",
    "gpt-4-0125-preview",
    "gpt-4-1106-preview",
  ),
  ...toAliases(FLASH, "gpt-4-0314", "gpt-4-32k", "gpt-4-32k-0314", "gpt-4-32k-0613"),
  ...toAliases(FLASH, "gpt-4.1-2025-04-14", "gpt-4.1-mini-2025-04-14", "gpt-4.1-nano-2025-04-14"),
  ...toAliases(
    FLASH,
    "gpt-5-2025-08-07",
    "gpt-5-mini-2025-08-07",
    "gpt-5-nano-2025-08-07",
    "gpt-5.1-2025-11-13",
  ),
  ...toAliases(FLASH, "gpt-5.2-2025-12-11", "gpt-5.4-mini-2026-03-17", "gpt-5.4-nano-2026-03-17"),
  ...toAliases(FLASH, "gpt-5.5-2026-04-23", "o3-mini-2025-01-31", "o4-mini-2025-04-16"),
  ...toAliases(FLASH, "o4-mini-deep-research-2025-06-26"),
  ...toAliases(PRO, "gpt-5-pro-2025-10-06", "gpt-5.2-pro-2025-12-11", "gpt-5.5-pro-2026-04-23"),
  ...toAliases(PRO, "o1-2024-12-17", "o1-preview-2024-09-12", "o1-mini-2024-09-12", "o1-pro-2025-03-19"),
  ...toAliases(PRO, "o3-2025-04-16", "o3-pro-2025-06-10", "o3-deep-research-2025-06-26"),
  // With web search.
  ...toAliases(SEARCH, "gpt-4o-search-preview", "gpt-4o-search-preview-2025-03-11"),
  ...toAliases(SEARCH, "gpt-4o-mini-search-preview", "gpt-4o-mini-search-preview-2025-03-11"),
  // Code.
  ...toAliases(PRO, "gpt-5-pro", "gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.5-pro"),
  ...toAliases(
    PRO,
    "codex-mini-latest",
    "gpt-5-codex",
    "gpt-5-codex-mini",
    "gpt-5.1-codex",
    "gpt-5.1-codex-mini",
  ),
  ...toAliases(PRO, "gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4-codex", "gpt-5.5-codex"),
  // Reasoning.
  ...toAliases(PRO, "gpt-6-astra", "gpt-6.2-astra", "gpt-6.2-astra-law"),
  ...toAliases(PRO, "o1", "o1-preview", "o1-mini", "o1-pro", "o3", "o3-pro", "o3-deep-research"),
  ...toAliases(FLASH, "o3-mini", "o4-mini", "o4-mini-deep-research"),
  ...toAliases(FLASH, "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"),
];

const GOOGLE: readonly Alias[] = [
  ...toAliases(
    PRO,
    "gemini-pro",
    "gemini-1.5-pro",
    "gemini-1.5-pro-latest",
    "gemini-2.5-pro",
    "gemini-2.5-pro-preview",
  ),
  ...toAliases(
    PRO,
    "gemini-3-pro",
    "gemini-3-pro-preview",
    "gemini-3.1-pro",
    "gemini-3.1-pro-preview",
    "gemini-pro-latest",
  ),
  ...toAliases(FLASH, "gemini-flash", "gemini-flash-latest", "gemini-flash-lite-latest", "gemini-1.5-flash"),
  ...toAliases(
    FLASH,
    "gemini-1.5-flash-latest",
    "gemini-1.5-flash-8b",
    "gemini-2.0-flash",
    "gemini-2.0-flash-001",
  ),
  ...toAliases(
    FLASH,
    "gemini-2.0-flash-lite",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-flash-preview",
  ),
  ...toAliases(
    FLASH,
    "gemini-3-flash",
    "gemini-3-flash-preview",
    "gemini-3.1-flash",
    "gemini-3.1-flash-lite",
  ),
  ...toAliases(FLASH, "gemini-3.1-flash-lite-preview", "gemini-3.5-flash", "gemini-3.5-flash-lite"),
  ...toAliases(FLASH, "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash", "gemini-4-hydrogen"),
  ...toAliases(FLASH, "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-lite-preview-09-2025"),
  ...toAliases(FLASH, "gemini-2.5-flash-lite-preview-06-17", "gemini-2.0-flash-lite-001"),
  ...toAliases(FLASH, "gemma-3-1b-it", "gemma-3-4b-it", "gemma-3-12b-it", "gemma-3-27b-it"),
  ...toAliases(FLASH, "gemma-3n-e2b-it", "gemma-3n-e4b-it"),
  ...toAliases(PRO, "gemini-3.1-pro-preview-customtools"),
  ...toAliases(PRO, "gemini-4-carbon", "gemini-4-argon"),
  ...toAliases(VISION, "gemini-pro-vision"),
  ...toAliases(FLASH, "text-embedding-004", "gemini-embedding-001"),
];

const META: readonly Alias[] = [
  ...toAliases(FLASH, "llama-3.1-70b-instruct", "llama-3.1-8b-instruct", "llama-3.3-70b-instruct"),
  ...toAliases(FLASH, "llama-4-scout", "llama-4-maverick"),
  ...toAliases(PRO, "llama-3.1-405b-instruct"),
];

const QWEN: readonly Alias[] = [
  ...toAliases(
    FLASH,
    "qwen-plus",
    "qwen-turbo",
    "qwen-flash",
    "qwen2.5-72b-instruct",
    "qwen-2.5-72b-instruct",
  ),
  ...toAliases(
    FLASH,
    "qwen3-8b",
    "qwen3-14b",
    "qwen3-32b",
    "qwen3-30b-a3b",
    "qwen3-235b-a22b",
    "qwen3.5-plus",
  ),
  ...toAliases(PRO, "qwen-max", "qwen3-max", "qwen3-coder", "qwen3-coder-plus", "qwen3-coder-flash"),
  ...toAliases(PRO, "qwen3-coder-480b-a35b-instruct", "qwen3-coder-next", "qwq-32b", "coder-model"),
  ...toAliases(VISION, "qwen-vl-max", "qwen-vl-plus", "qwen2.5-vl-72b-instruct", "vision-model"),
];

const MISTRAL: readonly Alias[] = [
  ...toAliases(FLASH, "mistral-small-latest", "mistral-medium-latest", "mistral-nemo"),
  ...toAliases(FLASH, "open-mixtral-8x7b", "mixtral-8x7b-instruct"),
  ...toAliases(PRO, "mistral-large-latest", "codestral-latest"),
  ...toAliases(PRO, "devstral-medium-latest", "devstral-small-latest", "magistral-medium-latest"),
  ...toAliases(VISION, "pixtral-large-latest"),
];

const DEEPSEEK: readonly Alias[] = [
  ...toAliases(FLASH, "deepseek-chat", "deepseek-v2.5", "deepseek-v3", "deepseek-v3-0324", "deepseek-v3.1"),
  ...toAliases(FLASH, "deepseek-v3.1-terminus", "deepseek-v3.2", "deepseek-v3.2-exp", "deepseek-v4-flash"),
  ...toAliases(FLASH, "deepseek-chat-v3", "deepseek-chat-v3-0324", "deepseek-chat-v3.1"),
  ...toAliases(
    PRO,
    "deepseek-reasoner",
    "deepseek-r1",
    "deepseek-r1-0528",
    "deepseek-coder",
    "deepseek-v4-pro",
  ),
  ...toAliases(PRO, "deepseek-r1-distill-llama-70b", "deepseek-r1-distill-qwen-32b"),
];

const XAI: readonly Alias[] = [
  ...toAliases(FLASH, "grok-3", "grok-3-mini", "grok-4-fast", "grok-4.1-fast"),
  ...toAliases(PRO, "grok-4", "grok-4-0709", "grok-code-fast-1"),
];

const MOONSHOT: readonly Alias[] = [
  ...toAliases(FLASH, "kimi-k2", "kimi-k2-0905", "kimi-k2-instruct"),
  ...toAliases(PRO, "kimi-k2-thinking", "kimi-k2.5"),
];

const ZAI: readonly Alias[] = [
  ...toAliases(FLASH, "glm-4.5-air", "glm-4.7-flash"),
  ...toAliases(PRO, "glm-4.5", "glm-4.6", "glm-4.7", "glm-5"),
];

/** All known vendors. */
export const VENDORS: readonly Vendor[] = [
  { prefixes: ["openai"], names: OPENAI },
  { prefixes: ["google"], names: GOOGLE },
  { prefixes: ["anthropic"], names: [...toFamilyAliases("claude-"), ...toDottedFamilyAliases("claude-")] },
  { prefixes: ["vendorb"], names: [...toFamilyAliases("modelb-"), ...toDottedFamilyAliases("modelb-")] },
  { prefixes: ["meta-llama", "meta"], names: META },
  { prefixes: ["qwen", "alibaba"], names: QWEN },
  { prefixes: ["mistralai", "mistral"], names: MISTRAL },
  { prefixes: ["deepseek", "deepseek-ai"], names: DEEPSEEK },
  { prefixes: ["x-ai", "xai"], names: XAI },
  { prefixes: ["moonshotai"], names: MOONSHOT },
  { prefixes: ["z-ai", "zai-org"], names: ZAI },
];
