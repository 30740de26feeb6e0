import type { Dialect } from "../dialect.ts";
import { MESSAGE_FAMILY } from "./family.ts";
import { BETA_HEADERS, DIALECT_ID, PREFIXES, VERSION_HEADERS } from "./names.ts";

/** The message style, under both of its path prefixes and with its shortcuts. */
export const messages: Dialect = {
  id: DIALECT_ID,
  tag: "Message style",
  family: MESSAGE_FAMILY,
  paths: [...PREFIXES.map((prefix) => `${prefix}/`), "/v1/messages", "/messages"],
  sharedPaths: ["/v1/models", "/v1/files"],
  credentials: [{ in: "header", name: "x-api-key" }],
  requestHeaders: [...VERSION_HEADERS, ...BETA_HEADERS],
  load: async () => (await import("./index.ts")).MESSAGE_ENDPOINTS,
};
