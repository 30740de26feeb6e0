import { extractJson } from "./json-extractor.ts";
import { type FormatRank, type JsonFormat, rankJson } from "./json-rank.ts";

/** The result of checking an answer's text against the requested format. */
export interface FormatCheck {
  readonly rank: FormatRank;
  /** The text without a code fence or words around its JSON, as a stream shows it. */
  readonly text: string;
  /** The faults, worded for the model; empty when there is none. */
  readonly faults: readonly string[];
}

const EXCERPT_CHARS = 200;

/** Checks an answer's text. Regular expressions in the schema are not checked. */
export function checkFormat(answer: string, format: JsonFormat): FormatCheck {
  const text = extractJson(answer, format);
  const { rank, faults } = rankJson(text, format);
  if (rank !== "none") return { rank, text, faults };
  const excerpt = JSON.stringify(answer.trim().slice(0, EXCERPT_CHARS));
  return { rank, text, faults: [`the answer is not JSON: it begins with ${excerpt}`] };
}
