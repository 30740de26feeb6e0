import { SUBJECT_ID, SUBJECT_ID_RULE } from "../config/entry-id.ts";
import { selectStrictestMode } from "../config/history-mode.ts";
import { isObject } from "../encoding/json.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import type { Context } from "../ports/context.ts";

/** The header in which callers name the tags of a request, separated by commas. */
export const TAGS_HEADER = "x-gateway-tags";

/** A request has at most this number of tags. */
export const MAX_TAGS = 10;

const splitTags = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/**
 * Reads the tags of the header.
 *
 * @throws GatewayError 400 for a tag with other characters than an id may have, and for too many tags.
 */
export function parseTagsHeader(header: string): string[] {
  const tags = [...new Set(splitTags(header))];
  const invalid = tags.find((tag) => !SUBJECT_ID.test(tag));
  if (invalid !== undefined) {
    const text = JSON.stringify(invalid.slice(0, 80));
    throw invalidRequest(`${TAGS_HEADER}: ${text} is no tag: ${SUBJECT_ID_RULE}`, TAGS_HEADER);
  }
  if (tags.length > MAX_TAGS)
    throw invalidRequest(`${TAGS_HEADER}: at most ${MAX_TAGS} tags are allowed`, TAGS_HEADER);
  return tags;
}

/**
 * Reads `metadata.tags` of a body: a list of texts, or a text with commas. Clients use this member for other purposes, too,
 * so everything that is not a tag is ignored.
 */
export function readMetadataTags(body: unknown): string[] {
  if (!isObject(body) || !isObject(body["metadata"])) return [];
  const { tags } = body["metadata"];
  const listed = typeof tags === "string" ? splitTags(tags) : Array.isArray(tags) ? tags : [];
  return listed.filter((tag): tag is string => typeof tag === "string" && SUBJECT_ID.test(tag));
}

/** Adds tags to a request; those beyond the limit are ignored. */
export async function addTags(
  { quota, facts, config: readConfig }: Pick<Context, "quota" | "facts" | "config">,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return;
  const all = [...new Set([...(quota.tags ?? []), ...tags])].slice(0, MAX_TAGS);
  quota.tags = all;
  facts.tags = all.toSorted().join(",");
  const { config } = await readConfig();
  quota.tagEntries = config.tags.filter(({ id }) => all.includes(id));
  const mode = selectStrictestMode([facts.history, ...quota.tagEntries.map(({ history }) => history)]);
  if (mode !== undefined) facts.history = mode;
}
