import { useState } from "preact/hooks";
import { useIsNarrow } from "../use-media.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { SmallPager } from "./pager.tsx";
import { FEW_ROWS, ROWS } from "./use-paging.ts";

interface PagedTableProps<T> extends DataTableProps<T> {
  /** Most rows of a page, for lists beside others; `few`: of one of several long lists. */
  readonly rows?: number | "few";
}

/** A table that shows a long list page by page. */
export function PagedTable<T>({ items, rows, ...props }: PagedTableProps<T>) {
  const { wide, narrow } = rows === "few" ? FEW_ROWS : ROWS;
  const standardSize = useIsNarrow() ? narrow : wide;
  const size = Math.min(typeof rows === "number" ? rows : standardSize, standardSize);
  const [chosen, setChosen] = useState(1);
  const pages = Math.max(1, Math.ceil(items.length / size));
  // The list may have become shorter.
  const page = Math.min(chosen, pages);
  return (
    <>
      <DataTable items={items.slice((page - 1) * size, page * size)} {...props} />
      {pages > 1 && <SmallPager page={page} pages={pages} count={items.length} onTurn={setChosen} />}
    </>
  );
}
