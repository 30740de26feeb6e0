import * as z from "zod/mini";
import { createStore } from "../../store.ts";
import { FILTER_FIELDS } from "./filter-fields.ts";

const KEY = "polygate.filters";
const MAX_FILTERS = 30;

const saved = z.array(z.object({ name: z.string(), query: z.string() }));

/** A saved filter. Filters are stored in this browser. */
export type SavedFilter = z.output<typeof saved>[number];

function readStoredFilters(): readonly SavedFilter[] {
  try {
    const parsed = saved.safeParse(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    return parsed.success ? parsed.data : [];
  } catch {
    return [];
  }
}

export const savedFilters = createStore<readonly SavedFilter[]>(readStoredFilters());

function storeFilters(filters: readonly SavedFilter[]): void {
  savedFilters.set(filters);
  try {
    localStorage.setItem(KEY, JSON.stringify(filters));
  } catch {
    // If the browser does not store data, the filters last until the tab closes.
  }
}

/** Returns the search and the filters of a URL query, without the page number. */
export function filterQuery(query: string): string {
  const params = new URLSearchParams(query);
  const filters = new URLSearchParams();
  for (const name of ["q", ...FILTER_FIELDS.map((field) => field.name)]) {
    const value = params.get(name) ?? "";
    if (value !== "") filters.set(name, value);
  }
  return filters.toString();
}

/** Saves a filter. Replaces an older filter with the same name. */
export function saveFilter(name: string, query: string): void {
  const others = savedFilters.get().filter((filter) => filter.name !== name);
  storeFilters([...others, { name, query: filterQuery(query) }].slice(-MAX_FILTERS));
}

export function forgetFilter(name: string): void {
  storeFilters(savedFilters.get().filter((filter) => filter.name !== name));
}
