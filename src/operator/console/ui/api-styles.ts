import { words } from "./words.ts";

const NAMES: Readonly<Record<string, string>> = words.apiStyles;

/** The name of an API style for the user: one name for each style on all pages. An unknown style is its own name. */
export const formatApiStyle = (id: string): string => NAMES[id] ?? id;

const OPERATIONS: Readonly<Record<string, string>> = words.operations;

/** The name of an endpoint that needs no translation, such as images; undefined for another kind of work. */
export const formatOperation = (operation: string | undefined): string | undefined =>
  operation === undefined ? undefined : OPERATIONS[operation];

/** The API style that the protocol of a provider is. */
const DRIVER_STYLES: Readonly<Record<string, string>> = {
  openai: "chat-completions",
  "openai-responses": "responses",
  anthropic: "messages",
  gemini: "content-generation",
};

/** The name of a provider's protocol: that of its API style. */
export const formatDriver = (id: string): string => formatApiStyle(DRIVER_STYLES[id] ?? id);
