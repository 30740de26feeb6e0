import type { Choice } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

const STATUSES: readonly Choice[] = [
  ["", words.any],
  ["success", texts.success],
  ["error", texts.error],
  ["cancelled", texts.cancelled],
  ["streaming", texts.generating],
];

const STYLES: readonly Choice[] = [["", words.any], ...Object.entries(words.apiStyles)];

const PATHS: readonly Choice[] = [["", words.any], ...Object.entries(texts.paths)];

/** A filter of the history. Its name is used in the page's URL and in the gateway's query. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "time" | "number" | "choice";
  /** The values of a choice, with their names. */
  readonly choices?: readonly Choice[];
  readonly placeholder?: string;
}

export const FILTER_FIELDS: readonly FilterField[] = [
  { name: "status", label: texts.status, kind: "choice", choices: STATUSES },
  { name: "code", label: texts.code, kind: "text", placeholder: "429, 5xx, upstream_error" },
  { name: "from", label: texts.from, kind: "time" },
  { name: "to", label: texts.until, kind: "time" },
  { name: "model", label: words.model, kind: "text", placeholder: texts.modelHint },
  { name: "account", label: words.account, kind: "text", placeholder: texts.anyAttempt },
  { name: "provider", label: texts.provider, kind: "text", placeholder: texts.nameOrId },
  { name: "key", label: words.key, kind: "text", placeholder: texts.nameOrId },
  { name: "team", label: texts.team, kind: "text", placeholder: texts.nameOrId },
  { name: "dialect", label: words.apiStyle, kind: "choice", choices: STYLES },
  { name: "path", label: texts.path, kind: "choice", choices: PATHS },
  { name: "source", label: texts.source, kind: "text" },
  { name: "min_ms", label: texts.minDurationMs, kind: "number" },
  { name: "min_tokens", label: texts.minTokens, kind: "number" },
];

/** Counts the filters in a URL query. */
export function countFilters(query: string): number {
  const params = new URLSearchParams(query);
  return FILTER_FIELDS.filter(({ name }) => (params.get(name) ?? "") !== "").length;
}

/** Replaces the name of a status in the user's language by the gateway's, if the search is a status, or a status and a code. */
function translateStatus(search: string): string {
  const [, text = "", code] = /^(.*?)(?: (\d+))?$/.exec(search.trim().toLowerCase()) ?? [];
  const found = STATUSES.find(([status, name]) => status !== "" && text === name.toLowerCase());
  if (found === undefined) return search;
  return code === undefined ? found[0] : `${found[0]} ${code}`;
}

/** Converts the page's URL query to the gateway's query. Converts local times to Unix times. */
export function toApiQuery(query: string): URLSearchParams {
  const params = new URLSearchParams(query);
  const apiQuery = new URLSearchParams();
  for (const name of ["q", ...FILTER_FIELDS.map((field) => field.name)]) {
    const value = params.get(name) ?? "";
    if (value === "") continue;
    const isTime = name === "from" || name === "to";
    const time = isTime ? new Date(value) : null;
    if (name === "q") apiQuery.set(name, translateStatus(value));
    else if (time === null) apiQuery.set(name, value);
    else if (!Number.isNaN(time.getTime())) apiQuery.set(name, time.toISOString());
  }
  return apiQuery;
}
