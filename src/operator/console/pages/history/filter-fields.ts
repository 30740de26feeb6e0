import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
/** A filter of the history. Its name is used in the page's URL and in the gateway's query. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "time" | "number" | "status";
  readonly placeholder?: string;
}

export const FILTER_FIELDS: readonly FilterField[] = [
  { name: "status", label: texts.status, kind: "status" },
  { name: "code", label: texts.code, kind: "text", placeholder: "429, 5xx" },
  { name: "from", label: texts.from, kind: "time" },
  { name: "to", label: texts.until, kind: "time" },
  { name: "model", label: words.model, kind: "text", placeholder: texts.requestedOrUsed },
  { name: "account", label: words.account, kind: "text", placeholder: texts.anyAttempt },
  { name: "key", label: words.key, kind: "text", placeholder: texts.id },
  { name: "dialect", label: words.apiStyle, kind: "text", placeholder: "messages" },
  { name: "source", label: texts.source, kind: "text" },
  { name: "min_ms", label: texts.minDurationMs, kind: "number" },
  { name: "min_tokens", label: texts.minTokens, kind: "number" },
];

/** Counts the filters in a URL query. */
export function countFilters(query: string): number {
  const params = new URLSearchParams(query);
  return FILTER_FIELDS.filter(({ name }) => (params.get(name) ?? "") !== "").length;
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
    if (time === null) apiQuery.set(name, value);
    else if (!Number.isNaN(time.getTime())) apiQuery.set(name, time.toISOString());
  }
  return apiQuery;
}
