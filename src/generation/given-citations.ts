import type { Citation } from "../conversation/sources.ts";
import type { ProviderEvent } from "../provider/provider.ts";
import { claimBefore, MAX_CITATIONS } from "./citations.ts";

type GivenCitation = Extract<ProviderEvent, { type: "citation" }>;

/**
 * Citations that the provider sends as events, not as markers in the text. Their offsets count from the beginning of a
 * turn's text.
 */
export class GivenCitations {
  readonly #given: { readonly citation: GivenCitation; readonly base: number }[] = [];

  /** `base` is the length of the answer that was shown before the turn. */
  push(citation: GivenCitation, base: number): void {
    if (this.#given.length < MAX_CITATIONS) this.#given.push({ citation, base });
  }

  /** The citations in the order of the text. Offsets outside the text are dropped. */
  in(text: string): Citation[] {
    return this.#given
      .map(({ citation, base }) => placed(citation, text, base))
      .filter((citation) => citation !== null)
      .sort((one, other) => one.start - other.start);
  }
}

function placed(given: GivenCitation, text: string, base: number): Citation | null {
  const { url, title, quoted, claim } = given;
  const [start, end] = linkIn(given, text, base);
  if (!Number.isInteger(start) || !Number.isInteger(end)) return null;
  if (start < 0 || start > end || end > text.length) return null;
  return {
    url,
    title,
    start,
    end,
    claim:
      claim === undefined
        ? claimBefore(text, start)
        : { start: base + claim.start, text: text.slice(base + claim.start, base + claim.end) },
    ...(quoted === undefined ? {} : { quoted }),
  };
}

/** The offsets of a link. Some providers count characters (code points) instead of UTF-16 units. */
function linkIn(
  { url, start, end }: GivenCitation,
  text: string,
  base: number,
): [start: number, end: number] {
  const units: [number, number] = [base + start, base + end];
  if (start === end || text.slice(...units).includes(url) || !/[\ud800-\udbff]/.test(text)) return units;
  const characters: [number, number] = [base + unitsOf(text, base, start), base + unitsOf(text, base, end)];
  return text.slice(...characters).includes(url) ? characters : units;
}

/** The number of UTF-16 units of `characters` code points from offset `from`. */
function unitsOf(text: string, from: number, characters: number): number {
  let at = from;
  for (let left = characters; left > 0 && at < text.length; left -= 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at - from;
}
