/* All rules for refused fields, which only a rejection needs, as one lazily loaded module (see `file-modules.ts`). */
export { REQUEST_REWRITES as ANTHROPIC_REWRITES } from "./anthropic/request-rewrites.ts";
export { REQUEST_REWRITES as GEMINI_REWRITES } from "./gemini/request-rewrites.ts";
export { REQUEST_REWRITES as OPENAI_REWRITES } from "./openai/request-rewrites.ts";
export { REQUEST_REWRITES as OPENAI_RESPONSES_REWRITES } from "./openai-responses/request-rewrites.ts";
export { NATIVE_RULES, TRANSLATED_RULES } from "./refused-fields/field-rules.ts";
