import * as z from "zod";
import { findSecrets, isShortenedSecret } from "../../../core/config/marked-secrets.ts";
import { configSchema } from "../../../core/config/schema.ts";
import { fromBase64 } from "../../../core/encoding/bytes.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { type GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseWith, rejectReservedNames } from "../../../core/http/json-body.ts";

export const IMPORT_MODES = ["merge", "replace"] as const;

export const objectSchema = z.record(z.string(), z.unknown(), "the configuration must be an object");
/** null: the query decides. An empty text means merge. */
export const modeSchema = z.enum([...IMPORT_MODES, ""], "must be merge or replace").nullish();

/** The parsed body of an import request. */
export interface ImportBody {
  /** The configuration as it was sent. */
  readonly raw: JsonObject;
  readonly mode: (typeof IMPORT_MODES)[number];
  /** The administrator accepts that no key or no account may be left. */
  readonly confirmed: boolean;
}

/** Groups of other versions, which are ignored (docs/contract/admin-configuration.md, Import details). */
const IGNORED_GROUPS = ["compat", "toolcall"];
/** Fields of the masked view that are not groups of the configuration. */
const VIEW_ONLY_FIELDS = [
  "env_backed",
  "env_source_present",
  "env_writeback_enabled",
  "config_path",
  "config_writable",
];
/** Allowed fields of a wrapper. `json` and `base64` are fields of an export. */
const WRAPPER_FIELDS = new Set(["config", "mode", "confirm", "json", "base64"]);

/** Maximum nesting: an export within an export within a wrapper. */
const MAX_WRAPPERS = 3;

/** Parses a configuration that is text: JSON, or base64 of JSON. Throws 400 for anything else. */
function parseConfigText(text: string, param: string): unknown {
  let value: unknown;
  try {
    const json = text.trimStart().startsWith("{") ? text : new TextDecoder().decode(fromBase64(text.trim()));
    value = JSON.parse(json);
  } catch {
    throw invalidRequest(`${param}: must be a configuration as JSON, or base64 of it`, param);
  }
  rejectReservedNames(value);
  return value;
}

/** Returns the content of a wrapper or an export; undefined if the value is neither. */
function findWrappedContent(value: JsonObject): { content: unknown; param: string } | undefined {
  if ("config" in value) return { content: value["config"], param: "config" };
  for (const param of ["json", "base64"]) {
    if (typeof value[param] === "string") return { content: value[param], param };
  }
  return undefined;
}

function unwrapConfig(value: unknown, depth: number): JsonObject {
  const object = parseWith(objectSchema, value);
  const wrapper = findWrappedContent(object);
  if (wrapper === undefined || depth === 0) return object;
  const unknownField = Object.keys(object).find((name) => !WRAPPER_FIELDS.has(name));
  if (unknownField !== undefined) {
    throw invalidRequest(`${unknownField}: a wrapper has a config, a mode and nothing else`, unknownField);
  }
  const { content, param } = wrapper;
  return unwrapConfig(typeof content === "string" ? parseConfigText(content, param) : content, depth - 1);
}

const listOrEmpty = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function maskedValueError(param: string): GatewayError {
  return invalidRequest(
    `${param}: this is masked, and would take the place of what it stands for; import what GET /admin/config/export answers`,
    param,
  );
}

/** Fields of list entries that only the masked view has. */
const VIEW_ONLY_ENTRY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  api_keys: ["hashed"],
  accounts: ["has_password", "has_token"],
  proxies: ["has_password"],
  providers: ["has_token"],
};

/** Returns the first field of an imported configuration that comes from the masked view; null: none. */
function findMaskedField(raw: JsonObject): string | null {
  for (const { place: path, text } of findSecrets(configSchema, raw))
    if (isShortenedSecret(text)) return path;
  for (const [group, names] of Object.entries(VIEW_ONLY_ENTRY_FIELDS)) {
    const index = listOrEmpty(raw[group]).findIndex(
      (entry) => isObject(entry) && names.some((name) => name in entry),
    );
    if (index !== -1) return `${group}[${index}]`;
  }
  return VIEW_ONLY_FIELDS.find((name) => name in raw) ?? null;
}

/**
 * Reads the body of an import: a configuration, an export, or either in a wrapper. The mode of the wrapper wins over the
 * mode of the query.
 *
 * @throws GatewayError 400 for any other body, for unknown groups, and for content of the masked view.
 */
export function readImport(
  body: JsonObject,
  query: { readonly mode?: string | undefined; readonly confirm?: string | undefined },
): ImportBody {
  const raw = unwrapConfig(body, MAX_WRAPPERS);
  const wrapped = raw !== body;
  const { mode } = parseWith(z.object({ mode: modeSchema }), {
    mode: (wrapped ? body["mode"] : undefined) ?? query.mode,
  });
  const path = findMaskedField(raw);
  if (path !== null) throw maskedValueError(path);
  const unknownGroup = Object.keys(raw).find(
    (name) => !(name in configSchema.shape) && !IGNORED_GROUPS.includes(name),
  );
  if (unknownGroup !== undefined) {
    throw invalidRequest(`${unknownGroup}: the configuration has no such group`, unknownGroup);
  }
  const confirmed = (wrapped && body["confirm"] === true) || query.confirm === "true";
  return { raw, mode: mode || "merge", confirmed };
}
