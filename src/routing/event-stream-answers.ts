import type { ZodType } from "zod";
import type { JsonObject } from "../encoding/json.ts";
import type { Answers } from "./endpoint.ts";

/** The schema of a stream of server-sent events: what each event holds is said in words. */
function events(what: string): JsonObject {
  return { type: "string", description: `Server-sent events. ${what}` };
}

/** An answer in JSON or, when the request asks for a stream, as server-sent events; `what` says what those hold. */
export function jsonOrEvents(schema: () => ZodType | JsonObject, what: string): Answers {
  return () => ({ "application/json": schema(), "text/event-stream": events(what) });
}

/** An answer as server-sent events; `what` says what those hold. */
export function eventsOnly(what: string): Answers {
  return () => ({ "text/event-stream": events(what) });
}
