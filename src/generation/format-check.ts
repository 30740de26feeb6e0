import { type FormatRank, type JsonFormat, rankJson } from "./json-rank.ts";
import { jsonTextOf } from "./json-text.ts";

/** An answer's text, checked against the requested format. */
export interface FormatCheck {
  readonly rank: FormatRank;
  /** The text without a code fence or words around its JSON, as a stream shows it. */
  readonly text: string;
  /** What is wrong, for the model to read; empty when nothing is. */
  readonly faults: readonly string[];
}

const EXCERPT_CHARS = 200;

/** Checks an answer's text. Regular expressions in the schema are left to the model. */
export function checkFormat(answer: string, format: JsonFormat): FormatCheck {
  const text = jsonTextOf(answer, format);
  const { rank, faults } = rankJson(text, format);
  if (rank !== "none") return { rank, text, faults };
  const excerpt = JSON.stringify(answer.trim().slice(0, EXCERPT_CHARS));
  return { rank, text, faults: [`the answer is not JSON: it begins with ${excerpt}`] };
}
