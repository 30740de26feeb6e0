import { STANDARD_FAMILY } from "../../../core/routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { createChatCompletion } from "./endpoints.ts";
import { DIALECT_ID } from "./request.ts";

/**
 * The chat-completions style. `/v1` and the root shortcuts (docs/contract.md, general rule 6)
 * belong to its route family.
 */
export const chatCompletions: Dialect = {
  id: DIALECT_ID,
  tag: "Chat completions",
  family: STANDARD_FAMILY,
  paths: ["/v1/", "/chat/completions"],
  credentials: [{ in: "bearer" }],
  endpoints: [createChatCompletion],
};
