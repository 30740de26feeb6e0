import type { Endpoint } from "../../../core/routing/endpoint.ts";
import { countMessageTokens, createMessage } from "./endpoints.ts";
import { MESSAGE_FILES } from "./files.ts";
import { MESSAGE_MODELS } from "./models.ts";

/** All endpoints of the style. */
export const MESSAGE_ENDPOINTS: readonly Endpoint[] = [
  createMessage,
  countMessageTokens,
  ...MESSAGE_MODELS,
  ...MESSAGE_FILES,
];
