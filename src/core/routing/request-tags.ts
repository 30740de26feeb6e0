import type { CallerKey } from "../auth/caller-keys.ts";
import type { Caller } from "../auth/callers.ts";
import { SUBJECT_ID, SUBJECT_ID_RULE } from "../config/entry-id.ts";
import { selectStrictestMode } from "../config/history-mode.ts";
import { isListed } from "../config/name-list.ts";
import { isObject } from "../encoding/json.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import type { Context } from "../ports/context.ts";
import { TAGS_HEADER } from "./control-headers.ts";

/** A request has at most this number of tags. */
const MAX_TAGS = 10;

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
function parseTagsHeader(header: string): string[] {
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
function readMetadataTags(body: unknown): string[] {
  if (!isObject(body) || !isObject(body["metadata"])) return [];
  const { tags } = body["metadata"];
  const listed = typeof tags === "string" ? splitTags(tags) : Array.isArray(tags) ? tags : [];
  return listed.filter((tag): tag is string => typeof tag === "string" && SUBJECT_ID.test(tag));
}

/** The tags that a key, its team or its user may name, and whose list it is, for error messages. */
interface TagList {
  readonly owner: string;
  readonly tags: readonly string[];
}

/** The lists that all must allow a tag. */
function listTagLists(key: CallerKey | null): TagList[] {
  const lists: TagList[] = [{ owner: "this API key", tags: key?.entry.allowed_tags ?? [] }];
  for (const { kind, entry } of key?.subjects ?? [])
    lists.push({ owner: `the ${kind} ${JSON.stringify(entry.id)}`, tags: entry.allowed_tags ?? [] });
  return lists.filter(({ tags }) => tags.length > 0);
}

/**
 * Adds tags to a request; those beyond the limit are ignored. Tags only narrow what a caller may do. Callers invent them, so
 * a tag's `history`, which hides requests from the operator, counts only where a list of allowed tags names it.
 */
async function addTags(
  { requestLimits, facts, config: readConfig }: Pick<Context, "requestLimits" | "facts" | "config">,
  tags: readonly string[],
  isHistoryChosen: boolean,
): Promise<void> {
  if (tags.length === 0) return;
  const all = [...new Set([...(requestLimits.tags ?? []), ...tags])].slice(0, MAX_TAGS);
  requestLimits.tags = all;
  facts.tags = all.toSorted().join(",");
  const { config } = await readConfig();
  requestLimits.tagEntries = config.tags.filter(({ id }) => all.includes(id));
  if (!isHistoryChosen) return;
  const mode = selectStrictestMode([
    facts.history,
    ...requestLimits.tagEntries.map(({ history }) => history),
  ]);
  if (mode !== undefined) facts.history = mode;
}

/**
 * Adds the tags of the header to a request.
 *
 * @throws GatewayError 400 for what is no tag, 403 for a tag that the key, its team or its user may not name.
 */
export async function addHeaderTags(context: Context, { key }: Pick<Caller, "key">): Promise<void> {
  const tags = parseTagsHeader(context.request.headers.get(TAGS_HEADER) ?? "");
  const lists = listTagLists(key);
  for (const tag of tags) {
    const refusing = lists.find((list) => !isListed(list.tags, tag));
    if (refusing === undefined) continue;
    const message = `${refusing.owner} may not use the tag ${JSON.stringify(tag)}`;
    throw new GatewayError(403, message, { code: "permission_denied", param: TAGS_HEADER });
  }
  await addTags(context, tags, lists.length > 0);
}

/** Adds the tags of a body's metadata to a request, as far as its key may name them. */
export async function addMetadataTags(
  context: Context,
  { key }: Pick<Caller, "key">,
  body: unknown,
): Promise<void> {
  const lists = listTagLists(key);
  const tags = readMetadataTags(body).filter((tag) => lists.every((list) => isListed(list.tags, tag)));
  await addTags(context, tags, lists.length > 0);
}
