import type { ZodType } from "zod";
import type { JsonObject } from "../encoding/json.ts";
import type { ResponseSchemas } from "./endpoint.ts";

/** Schema of a server-sent event stream; a text describes its events. */
function eventStreamSchema(events: string): JsonObject {
  return { type: "string", description: `Server-sent events. ${events}` };
}

/** A JSON response or, if the request asks for a stream, server-sent events; `events` describes the events. */
export function jsonOrEventStream(schema: () => ZodType | JsonObject, events: string): ResponseSchemas {
  return () => ({ "application/json": schema(), "text/event-stream": eventStreamSchema(events) });
}

/** A response of server-sent events; `events` describes the events. */
export function eventStreamOnly(events: string): ResponseSchemas {
  return () => ({ "text/event-stream": eventStreamSchema(events) });
}
