import type { ZodType } from "zod";
import { MAX_JSON_BYTES, parseWith, readBytes, readJson } from "../http/json-body.ts";

/** Reads and checks a JSON body all of whose fields may be left out; no body at all is an empty object. */
export async function readOptionalBody<T>(request: Request, schema: ZodType<T>): Promise<T> {
  const body = await readBytes(request, MAX_JSON_BYTES);
  const given = body.length === 0 ? {} : await readJson(new Request(request.url, { method: "POST", body }));
  return parseWith(schema, given);
}
