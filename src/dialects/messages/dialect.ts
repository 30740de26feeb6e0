import type { Dialect } from "../dialect.ts";
import { countMessageTokens, createMessage } from "./endpoints.ts";
import { MESSAGE_FAMILY } from "./family.ts";
import { MESSAGE_FILES } from "./files.ts";
import { MESSAGE_LIMIT_HEADERS } from "./limit-headers.ts";
import { MESSAGE_MODELS } from "./models.ts";
import { BETA_HEADERS, PREFIXES, VERSION_HEADERS } from "./names.ts";
import { ID } from "./request.ts";

/** The message style, under both of its prefixes and with its shortcuts. */
export const messages: Dialect = {
  id: ID,
  tag: "Message style",
  family: MESSAGE_FAMILY,
  paths: [...PREFIXES.map((prefix) => `${prefix}/`), "/v1/messages", "/messages"],
  credentials: [{ in: "header", name: "x-api-key" }],
  responseHeaders: ["request-id", ...MESSAGE_LIMIT_HEADERS],
  requestHeaders: [...VERSION_HEADERS, ...BETA_HEADERS],
  endpoints: [createMessage, countMessageTokens, ...MESSAGE_MODELS, ...MESSAGE_FILES],
};
