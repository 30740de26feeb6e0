import type { Citation } from "../../../core/conversation/sources.ts";
import type { ProviderEvent } from "../../providers/answers/provider-events.ts";
import { findClaimBefore, MAX_CITATIONS } from "./citations.ts";

type ProviderCitation = Extract<ProviderEvent, { type: "citation" }>;

/**
 * Citations that the provider sends as events, not as markers in the text. Their offsets count from the beginning of a
 * turn's text.
 */
export class ProviderCitations {
  readonly #received: { readonly citation: ProviderCitation; readonly base: number }[] = [];
  /** Number of citations that `resolveNewIn` has returned. */
  #returned = 0;

  /** `base` is the length of the answer that was shown before the turn. */
  push(citation: ProviderCitation, base: number): void {
    if (this.#received.length < MAX_CITATIONS) this.#received.push({ citation, base });
  }

  /** The citations in the order of the text. Offsets outside the text are dropped. */
  resolveIn(text: string): Citation[] {
    return this.#resolve(0, text);
  }

  /** The citations that came since the last call, in the same form. */
  resolveNewIn(text: string): Citation[] {
    const first = this.#returned;
    this.#returned = this.#received.length;
    return this.#resolve(first, text);
  }

  #resolve(first: number, text: string): Citation[] {
    return this.#received
      .slice(first)
      .map(({ citation, base }) => toCitation(citation, text, base))
      .filter((citation) => citation !== null)
      .sort((left, right) => left.start - right.start);
  }
}

function toCitation(citation: ProviderCitation, text: string, base: number): Citation | null {
  const { url, title, quoted, claim } = citation;
  const [start, end] = findLinkRange(citation, text, base);
  if (!Number.isInteger(start) || !Number.isInteger(end)) return null;
  if (start < 0 || start > end || end > text.length) return null;
  return {
    url,
    title,
    start,
    end,
    claim:
      claim === undefined
        ? findClaimBefore(text, start)
        : { start: base + claim.start, text: text.slice(base + claim.start, base + claim.end) },
    ...(quoted === undefined ? {} : { quoted }),
  };
}

/** The offsets of a link. Some providers count characters (code points) instead of UTF-16 units. */
function findLinkRange(
  { url, start, end }: ProviderCitation,
  text: string,
  base: number,
): [start: number, end: number] {
  const units: [number, number] = [base + start, base + end];
  if (start === end || text.slice(...units).includes(url) || !/[\ud800-\udbff]/.test(text)) return units;
  const characters: [number, number] = [
    base + countUnits(text, base, start),
    base + countUnits(text, base, end),
  ];
  return text.slice(...characters).includes(url) ? characters : units;
}

/** The number of UTF-16 units of `characters` code points from offset `from`. */
function countUnits(text: string, from: number, characters: number): number {
  let index = from;
  for (let remaining = characters; remaining > 0 && index < text.length; remaining -= 1) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return index - from;
}
