import type { Config } from "../../core/config/schema.ts";
import { toCanonicalJson } from "../../core/encoding/canonical-json.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";

/** Formats the entity tag of a configuration version (RFC 9110, 8.8.3). */
export const formatEtag = (version: number): string => `"${version}"`;

/**
 * The entity tag of one stored entry, from all its values. It is a hash with the signing secret, so that it does not
 * help to guess the entry's secrets.
 */
export async function entryEtag({ admin }: Config, entry: unknown): Promise<string> {
  return `"${(await sha256Hex(toCanonicalJson([admin.jwt_secret, entry]))).slice(0, 32)}"`;
}

/** Creates the response with a view of a stored entry and its entity tag. */
export async function entryResponse(config: Config, entry: unknown, view: unknown): Promise<Response> {
  return Response.json(view, { headers: { etag: await entryEtag(config, entry) } });
}

/**
 * Checks the `If-Match` header.
 *
 * @param version the present version of the configuration
 * @param getEntryTag reads the tag of the entry that the request addresses; absent: it addresses none
 * @throws GatewayError 412 if the header names other versions (RFC 9110, 13.1.1).
 */
export async function assertIfMatch(
  request: Request,
  version: number,
  getEntryTag?: () => Promise<string>,
): Promise<void> {
  const ifMatch = request.headers.get("if-match");
  if (ifMatch === null || ifMatch.trim() === "*") return;
  // An intermediary (proxy, CDN) may have made our tag a weak one.
  const tags = ifMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (tags.includes(formatEtag(version))) return;
  if (getEntryTag !== undefined && tags.includes(await getEntryTag())) return;
  const subject = getEntryTag === undefined ? "the configuration" : "this entry";
  throw new GatewayError(412, `${subject} has been changed since: read it again`, {
    code: "invalid_request",
  });
}

/** The part of an endpoint's description that says: its `ETag` is that of an entry. */
export const ENTRY_HEADERS = {
  headers: {
    ETag: "The version of the stored entry, for `If-Match`. Live values such as its health do not change it.",
  },
} as const;

/** The same of an endpoint whose `ETag` is the version of the configuration. */
export const VERSION_HEADERS = {
  headers: { ETag: "The version of the configuration that the edit made, for `POST /admin/config/restore`." },
} as const;

/** The same of an endpoint that edits an entry. */
export const IF_MATCH = {
  requestHeaders: {
    "If-Match":
      "The `ETag` of the entry, or of the configuration, on which the edit is based. `*` stands for any version.",
  },
  statuses: { 412: "The entry has another version than `If-Match` says." },
} as const;
