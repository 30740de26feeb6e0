import { useState } from "preact/hooks";

/** Which part of a long list is looked at. A new search, or another size, begins at the first page. */
export interface Paging {
  readonly query: string;
  readonly page: number;
  readonly size: number;
  /** Differs for each of these. */
  readonly key: string;
  search(query: string): void;
  turnTo(page: number): void;
  resize(size: number): void;
}

export function usePaging(): Paging {
  const [{ query, page, size }, set] = useState({ query: "", page: 1, size: 50 });
  return {
    query,
    page,
    size,
    key: `${query} ${page} ${size}`,
    search: (next) => set((before) => ({ ...before, query: next, page: 1 })),
    turnTo: (next) => set((before) => ({ ...before, page: next })),
    resize: (next) => set((before) => ({ ...before, size: next, page: 1 })),
  };
}
