import type { Citation, Source, Sources } from "../../core/conversation/sources.ts";
import { decodePercent } from "../../core/encoding/percent.ts";
import type { TextChecker } from "./text-checker.ts";

/**
 * Returns the sources of an answer with masked queries, titles and quotes. A source whose address a rule would mask is left
 * out.
 *
 * @throws GatewayError if a rule denies one of them
 */
export async function maskSources(
  { queries, found, citations }: Sources,
  checker: TextChecker,
): Promise<Sources> {
  const maskedQueries: string[] = [];
  for (const query of queries) maskedQueries.push(await checker.maskCounted(query));
  return {
    queries: maskedQueries,
    found: await maskEach(found, checker),
    citations: await maskCitations(citations, checker),
  };
}

/** The same for citations. Their claims are parts of the answer's text. */
export async function maskCitations(
  citations: readonly Citation[],
  checker: TextChecker,
): Promise<readonly Citation[]> {
  const masked: Citation[] = [];
  for (const { quoted, ...citation } of await maskEach(citations, checker)) {
    masked.push(quoted === undefined ? citation : { ...citation, quoted: await checker.maskCounted(quoted) });
  }
  return masked;
}

async function maskEach<Item extends Source>(
  sources: readonly Item[],
  checker: TextChecker,
): Promise<readonly Item[]> {
  const masked: Item[] = [];
  for (const source of sources) {
    if (await isMasked(source.url, checker)) continue;
    masked.push({ ...source, title: await checker.maskCounted(source.title) });
  }
  return masked;
}

/** Whether a rule masks an address, as it is or with its escapes decoded. */
async function isMasked(url: string, checker: TextChecker): Promise<boolean> {
  for (const form of new Set([url, decodePercent(url) ?? url]))
    if ((await checker.maskCounted(form)) !== form) return true;
  return false;
}
