import type { SearchLocation, WebSearch } from "../../../core/conversation/web-search.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";

const LOCATION_FIELDS = ["city", "region", "country", "timezone"] as const;

/**
 * Parses the options of a request's own web search: of a tool in the responses, message or content-generation style, or of
 * `web_search_options` in the chat-completions style. Undocumented values are ignored.
 */
export function parseWebSearch(declared: JsonObject): WebSearch {
  const { search_context_size: size, max_uses: maxUses } = declared;
  const filters = isObject(declared["filters"]) ? declared["filters"] : declared;
  const location = parseLocation(declared["user_location"]);
  const allowed = stringItems(filters["allowed_domains"]);
  const blocked = stringItems(filters["blocked_domains"] ?? declared["excludeDomains"]);
  return {
    ...(typeof size === "string" ? { contextSize: size } : {}),
    ...(location === undefined ? {} : { location }),
    ...(typeof maxUses === "number" ? { maxUses } : {}),
    ...(allowed.length === 0 ? {} : { allowedDomains: allowed }),
    ...(blocked.length === 0 ? {} : { blockedDomains: blocked }),
  };
}

/** Parses a location. The chat-completions style nests these fields under `approximate`; the other styles do not. */
function parseLocation(declared: unknown): SearchLocation | undefined {
  if (!isObject(declared)) return undefined;
  const fields = isObject(declared["approximate"]) ? declared["approximate"] : declared;
  const known = LOCATION_FIELDS.flatMap((name) => {
    const value = fields[name];
    return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function stringItems(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
