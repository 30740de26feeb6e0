/**
 * Packages and versions that `npm run agents` installs, by client. The first package of a client is the one that its row in
 * the table names.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
export const NPM = {
  "claude-code": { "@anthropic-ai/claude-code": "2.1.332" },
  codex: { "@openai/codex": "0.171.0" },
  gemini: { "@google/gemini-cli": "0.61.0" },
  qwen: { "@qwen-code/qwen-code": "0.24.4" },
  opencode: { "opencode-ai": "1.18.33" },
  pi: { "@mariozechner/pi-coding-agent": "0.73.1" },
  cline: { cline: "3.0.65" },
  continue: { "@continuedev/cli": "1.5.47" },
  copilot: { "@github/copilot": "1.0.102" },
  kilo: { "@kilocode/cli": "7.7.7" },
  openclaw: { openclaw: "2026.9.6" },

  langchain: {
    langchain: "1.5.14",
    "@langchain/openai": "1.6.0",
    "@langchain/anthropic": "1.5.11",
    "@langchain/google-genai": "2.3.2",
    "@langchain/ollama": "1.3.0",
    "@langchain/core": "1.4.0",
    zod: "4.6.7",
  },
  "openai-agents": { "@openai/agents": "0.20.0", zod: "4.6.7" },
  llamaindex: {
    llamaindex: "0.12.1",
    "@llamaindex/workflow": "1.1.25",
    "@llamaindex/openai": "0.4.23",
    "@llamaindex/anthropic": "0.3.27",
    "@llamaindex/google": "0.4.1",
    "@llamaindex/ollama": "0.1.24",
    zod: "4.6.7",
  },
  genkit: {
    genkit: "1.42.0",
    "@genkit-ai/compat-oai": "1.42.0",
    "@genkit-ai/anthropic": "0.3.0",
    "@genkit-ai/google-genai": "1.42.0",
    "genkitx-ollama": "1.42.0",
  },
  mastra: {
    "@mastra/core": "1.71.0",
    "@ai-sdk/openai": "4.0.118",
    "@ai-sdk/openai-compatible": "3.0.92",
    "@ai-sdk/anthropic": "4.0.105",
    "@ai-sdk/google": "4.0.121",
    zod: "4.6.7",
  },
  adk: { "@google/adk": "2.0.0", zod: "4.6.7" },
  instructor: { "@instructor-ai/instructor": "1.7.0", openai: "6.49.0", zod: "3.25.76" },
};

/** The same for Python. */
export const PYTHON = {
  "openai-python": { openai: "3.22.1" },
  "anthropic-python": { anthropic: "1.13.0" },
  "google-genai-python": { "google-genai": "2.25.0" },
};
