import type { ZodType } from "zod";
import type { JsonObject } from "../encoding/json.ts";
import type { Answers } from "./endpoint.ts";

/** Schema of a server-sent event stream; a text describes its events. */
function events(what: string): JsonObject {
  return { type: "string", description: `Server-sent events. ${what}` };
}

/** A JSON response or, if the request asks for a stream, server-sent events; `what` describes the events. */
export function jsonOrEvents(schema: () => ZodType | JsonObject, what: string): Answers {
  return () => ({ "application/json": schema(), "text/event-stream": events(what) });
}

/** A response of server-sent events; `what` describes the events. */
export function eventsOnly(what: string): Answers {
  return () => ({ "text/event-stream": events(what) });
}
