import { setQuery, useAddress } from "../../routing.ts";
import { useIsNarrow } from "../use-media.ts";

/** Paging of a long list; the URL stores it. A new search or another size returns to the first page. */
export interface Paging {
  readonly query: string;
  readonly page: number;
  readonly size: number;
  /** Changes whenever query, page or size changes. */
  readonly key: string;
  search(query: string): void;
  turnTo(page: number): void;
  resize(size: number): void;
}

/** Rows of a page at first: few enough that no page is longer than four screens, also where a row becomes a block. */
export const ROWS = { wide: 25, narrow: 8 } as const;
/** The same of one of several lists on a page. */
export const FEW_ROWS = { wide: 12, narrow: 5 } as const;

function parseWholeNumber(text: string | null, fallback: number, max: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= max ? value : fallback;
}

/** `rows`: rows of a page at first, if they do not depend on the screen's width. */
export function usePaging(maxSize: number, rows?: number): Paging {
  const address = useAddress();
  const isNarrow = useIsNarrow();
  const standardSize = rows ?? (isNarrow ? ROWS.narrow : ROWS.wide);
  const params = new URLSearchParams(address.query);
  const query = params.get("q") ?? "";
  const page = parseWholeNumber(params.get("page"), 1, Number.MAX_SAFE_INTEGER);
  const size = parseWholeNumber(params.get("size"), standardSize, maxSize);
  const change = (changes: Readonly<Record<string, string>>, addsEntry: boolean) => {
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") params.delete(name);
      else params.set(name, value);
    }
    setQuery(params.toString(), addsEntry);
  };
  return {
    query,
    page,
    size,
    key: `${query} ${page} ${size}`,
    search: (next) => change({ q: next, page: "" }, false),
    turnTo: (next) => change({ page: next === 1 ? "" : String(next) }, true),
    resize: (next) => change({ size: next === standardSize ? "" : String(next), page: "" }, true),
  };
}
