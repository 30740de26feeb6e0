import { isObject } from "../../../core/encoding/json.ts";
import { PARAMETER_NAMES, type PlaygroundDialect, type PlaygroundRequest } from "./types.ts";

function withMember(body: Readonly<Record<string, unknown>>, path: readonly string[], value: unknown) {
  const [name = "", ...rest] = path;
  const inner = body[name];
  const member: unknown = rest.length === 0 ? value : withMember(isObject(inner) ? inner : {}, rest, value);
  return { ...body, [name]: member };
}

/** Adds the parameters that the dialect has to a request's body. */
export function withParameters(
  body: Readonly<Record<string, unknown>>,
  paths: PlaygroundDialect["parameters"],
  { parameters = {} }: PlaygroundRequest,
): Record<string, unknown> {
  let whole: Record<string, unknown> = body;
  for (const name of PARAMETER_NAMES) {
    const path = paths[name];
    if (path === undefined || parameters[name] === undefined) continue;
    whole = withMember(whole, path.split("."), parameters[name]);
  }
  return whole;
}
