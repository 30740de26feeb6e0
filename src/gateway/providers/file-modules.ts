/*
 * All code for files of keyed backends, which few isolates need, as one lazily loaded module: several would split the code
 * that they share with other modules into many small parts.
 */
export { createFiles as createAnthropicFiles } from "./anthropic/files.ts";
export { createBearerFiles } from "./files/bearer-files.ts";
export { recoverFromFileRejection } from "./files/file-rejection.ts";
export { createFiles as createGeminiFiles } from "./gemini/files.ts";
