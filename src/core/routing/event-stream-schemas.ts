import type { ZodType } from "zod";
import type { JsonObject } from "../encoding/json.ts";
import type { ResponseSchemas } from "./endpoint.ts";

/** Schema of a server-sent event stream; a text describes its events. */
function eventStreamSchema(what: string): JsonObject {
  return { type: "string", description: `Server-sent events. ${what}` };
}

/** A JSON response or, if the request asks for a stream, server-sent events; `what` describes the events. */
export function jsonOrEventStream(schema: () => ZodType | JsonObject, what: string): ResponseSchemas {
  return () => ({ "application/json": schema(), "text/event-stream": eventStreamSchema(what) });
}

/** A response of server-sent events; `what` describes the events. */
export function eventStreamOnly(what: string): ResponseSchemas {
  return () => ({ "text/event-stream": eventStreamSchema(what) });
}
