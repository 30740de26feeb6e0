import * as z from "zod";
import { isPreview } from "../auth/secrets.ts";
import { configSchema } from "../config/schema.ts";
import { fromBase64 } from "../encoding/bytes.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";
import { type GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { parseWith } from "../http/json-body.ts";

export const MODES = ["merge", "replace"] as const;

export const objectSchema = z.record(z.string(), z.unknown(), "the configuration must be an object");
/** Null leaves the choice to the query; an empty one is a merge. */
export const modeSchema = z.enum([...MODES, ""], "must be merge or replace").nullish();

/** What a request wants imported. */
export interface ImportBody {
  /** The configuration as it was sent. */
  readonly raw: JsonObject;
  readonly mode: (typeof MODES)[number];
  /** The administrator knows that no key or no account may be left. */
  readonly confirmed: boolean;
}

/** Groups of other versions, which are ignored (contract, Import details). */
const IGNORED = ["compat", "toolcall"];
/** What the masked view of the configuration has beside its groups. */
const OF_THE_VIEW = [
  "env_backed",
  "env_source_present",
  "env_writeback_enabled",
  "config_path",
  "config_writable",
];
/** What may stand in a wrapper: `json` and `base64` come with an export. */
const OF_A_WRAPPER = new Set(["config", "mode", "confirm", "json", "base64"]);

/** An export within an export within a wrapper is the most that anybody makes by mistake. */
const MAX_WRAPPERS = 3;

/** A configuration that comes as text: JSON, or base64 of it. Throws 400 for anything else. */
function fromText(text: string, param: string): unknown {
  try {
    const json = text.trimStart().startsWith("{") ? text : new TextDecoder().decode(fromBase64(text.trim()));
    return JSON.parse(json);
  } catch {
    throw invalidRequest(`${param}: must be a configuration as JSON, or base64 of it`, param);
  }
}

/** The content of a wrapper or an export; undefined: it is none. */
function contentOf(value: JsonObject): { content: unknown; param: string } | undefined {
  if ("config" in value) return { content: value["config"], param: "config" };
  for (const param of ["json", "base64"]) {
    if (typeof value[param] === "string") return { content: value[param], param };
  }
  return undefined;
}

function unwrapped(value: unknown, depth: number): JsonObject {
  const object = parseWith(objectSchema, value);
  const wrapper = contentOf(object);
  if (wrapper === undefined || depth === 0) return object;
  const stranger = Object.keys(object).find((name) => !OF_A_WRAPPER.has(name));
  if (stranger !== undefined) {
    throw invalidRequest(`${stranger}: a wrapper has a config, a mode and nothing else`, stranger);
  }
  const { content, param } = wrapper;
  return unwrapped(typeof content === "string" ? fromText(content, param) : content, depth - 1);
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function masked(param: string): GatewayError {
  return invalidRequest(
    `${param}: this is masked, and would take the place of what it stands for; import what GET /admin/config/export answers`,
    param,
  );
}

/** Where something of the masked view is in an imported configuration; null: nowhere. */
function maskedField(raw: JsonObject): string | null {
  const isMask = (value: unknown) => typeof value === "string" && isPreview(value);
  for (const [index, key] of list(raw["keys"]).entries()) if (isMask(key)) return `keys[${index}]`;
  for (const [index, entry] of list(raw["api_keys"]).entries()) {
    if (isObject(entry) && (isMask(entry["key"]) || "hashed" in entry)) return `api_keys[${index}].key`;
  }
  for (const group of ["accounts", "proxies"]) {
    for (const [index, entry] of list(raw[group]).entries()) {
      if (!isObject(entry)) continue;
      const secret = ["password", "token"].find((name) => isMask(entry[name]));
      if (secret !== undefined) return `${group}[${index}].${secret}`;
      if ("has_password" in entry || "has_token" in entry) return `${group}[${index}]`;
    }
  }
  for (const [index, entry] of list(raw["providers"]).entries()) {
    if (!isObject(entry)) continue;
    if (isMask(entry["token"]) || "has_token" in entry) return `providers[${index}].token`;
    const headers = isObject(entry["headers"]) ? Object.entries(entry["headers"]) : [];
    const header = headers.find(([, value]) => isMask(value));
    if (header !== undefined) return `providers[${index}].headers.${header[0]}`;
  }
  if (isObject(raw["vercel"]) && isMask(raw["vercel"]["token"])) return "vercel.token";
  return OF_THE_VIEW.find((name) => name in raw) ?? null;
}

/**
 * Reads the body of an import: a configuration, an export, or either in a wrapper that also names the mode, which counts before
 * the query's.
 *
 * @throws GatewayError 400 for what is none of them, has groups that are not known, or comes from the masked view.
 */
export function readImport(
  body: JsonObject,
  query: { readonly mode?: string | undefined; readonly confirm?: string | undefined },
): ImportBody {
  const raw = unwrapped(body, MAX_WRAPPERS);
  const wrapped = raw !== body;
  const { mode } = parseWith(z.object({ mode: modeSchema }), {
    mode: (wrapped ? body["mode"] : undefined) ?? query.mode,
  });
  const place = maskedField(raw);
  if (place !== null) throw masked(place);
  const stranger = Object.keys(raw).find((name) => !(name in configSchema.shape) && !IGNORED.includes(name));
  if (stranger !== undefined) {
    throw invalidRequest(`${stranger}: the configuration has no such group`, stranger);
  }
  const confirmed = (wrapped && body["confirm"] === true) || query.confirm === "true";
  return { raw, mode: mode || "merge", confirmed };
}
