import { STANDARD_FAMILY } from "../../routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { compactResponse } from "./compact.ts";
import { countInputTokens, createResponse } from "./endpoints.ts";
import { ID } from "./request.ts";
import { cancelResponse, deleteResponse, listInputItems, readResponse } from "./stored.ts";
import { openConnection } from "./web-socket.ts";

/** The responses style. */
export const responses: Dialect = {
  id: ID,
  tag: "Responses",
  family: STANDARD_FAMILY,
  paths: ["/v1/responses", "/responses"],
  credentials: [{ in: "bearer" }],
  endpoints: [
    createResponse,
    countInputTokens,
    compactResponse,
    readResponse,
    deleteResponse,
    cancelResponse,
    listInputItems,
    openConnection,
  ],
};
