import type { Endpoint } from "../../../core/routing/endpoint.ts";
import { compactResponse } from "./compact-endpoint.ts";
import { countInputTokens, createResponse } from "./endpoints.ts";
import { cancelResponse, deleteResponse, listInputItems, readResponse } from "./stored-responses.ts";
import { openConnection } from "./web-socket.ts";

/** All endpoints of the style. */
export const RESPONSES_ENDPOINTS: readonly Endpoint[] = [
  createResponse,
  countInputTokens,
  compactResponse,
  readResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
  openConnection,
];
