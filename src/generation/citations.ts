import type { SearchResult } from "../provider/provider.ts";

/** A whole marker, or a piece that the end of the text may still complete. Digits are bounded, so is the hold-back. */
const MARKER = /\[(citation|reference):(\d{1,6})\]/g;
const PARTIAL =
  /\[(?:(?:c(?:i(?:t(?:a(?:t(?:i(?:o(?:n(?::\d{0,6})?)?)?)?)?)?)?)?)|(?:r(?:e(?:f(?:e(?:r(?:e(?:n(?:c(?:e(?::\d{0,6})?)?)?)?)?)?)?)?)?))?$/;

/**
 * Hides the upstream's `[citation:N]` and `[reference:N]` placeholders from a stream (contract, general rule 8),
 * however the text is cut.
 */
export class CitationFilter {
  #held = "";

  /** The text that can be shown by now. */
  push(text: string): string {
    if (this.#held === "" && !text.includes("[")) return text;
    const whole = this.#held + text;
    const clean = whole.replace(MARKER, "");
    const partial = PARTIAL.exec(clean.length > 20 ? clean.slice(-20) : clean);
    const keep = partial === null ? 0 : partial[0].length;
    this.#held = keep === 0 ? "" : clean.slice(-keep);
    return keep === 0 ? clean : clean.slice(0, -keep);
  }

  /** What was held back and turned out to be ordinary text. */
  finish(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** An address as a Markdown link's target: nothing in it may end the link early. */
function linkTarget(url: string): string {
  return url.replace(/[()\s<>]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * Turns citation markers into Markdown links (contract, general rule 8, non-streaming). `[citation:N]` points at the
 * result with index N, from 1; `[reference:N]` counts from 0 when `[reference:0]` occurs in the same text, else from 1
 * (provider protocol, event `search`). A marker that points nowhere is an internal placeholder and goes.
 */
export function linkCitations(text: string, results: readonly SearchResult[]): string {
  if (!text.includes("[citation:") && !text.includes("[reference:")) return text;
  const byIndex = new Map(results.map((result) => [result.index, result]));
  const offset = text.includes("[reference:0]") ? 1 : 0;
  return text.replace(MARKER, (_, kind: string, digits: string) => {
    const index = Number(digits) + (kind === "reference" ? offset : 0);
    const url = byIndex.get(index)?.url;
    return url === undefined ? "" : `[${index}](${linkTarget(url)})`;
  });
}
