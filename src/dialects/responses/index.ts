import type { Endpoint } from "../../routing/endpoint.ts";
import { compactResponse } from "./compact.ts";
import { countInputTokens, createResponse } from "./endpoints.ts";
import { cancelResponse, deleteResponse, listInputItems, readResponse } from "./stored.ts";
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
