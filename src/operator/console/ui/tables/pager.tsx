import { Button } from "../button.tsx";
import { formatCount } from "../count.ts";
import { words } from "../words.ts";
import type { Paging } from "./use-paging.ts";

interface PageTurnerProps {
  readonly page: number;
  readonly pages: number;
  readonly onTurn: (page: number) => void;
}

/** Buttons for the page before and the page after. */
function PageTurner({ page, pages, onTurn }: PageTurnerProps) {
  return (
    <div class="row">
      <Button disabled={page <= 1} onClick={() => onTurn(page - 1)}>
        {words.previous}
      </Button>
      <span class="tabular">
        {formatCount(page)} / {formatCount(Math.max(pages, 1))}
      </span>
      <Button disabled={page >= pages} onClick={() => onTurn(page + 1)}>
        {words.next}
      </Button>
    </div>
  );
}

interface PagerProps {
  readonly paging: Paging;
  readonly pages: number;
  readonly sizes: readonly number[];
  /** Number of items, as a text. */
  readonly total: string;
}

/** Controls for the page number and the page size of a list. */
export function Pager({ paging, pages, sizes, total }: PagerProps) {
  const { page, size, turnTo, resize } = paging;
  const choices = [...new Set([...sizes, size])].sort((a, b) => a - b);
  return (
    <nav class="pager" aria-label={words.pagesList}>
      <span class="muted">{total}</span>
      <label class="pager-size">
        <span class="muted">{words.show}</span>
        <select value={String(size)} onChange={(event) => resize(Number(event.currentTarget.value))}>
          {choices.map((choice) => (
            <option key={choice} value={String(choice)}>
              {formatCount(choice)}
            </option>
          ))}
        </select>
      </label>
      <PageTurner page={page} pages={pages} onTurn={turnTo} />
    </nav>
  );
}

/** Controls for the page number alone, with the number of all items. */
export function SmallPager({ count, ...turner }: PageTurnerProps & { readonly count: number }) {
  return (
    <nav class="pager" aria-label={words.pagesList}>
      <span class="muted">{words.rowCount(count)}</span>
      <PageTurner {...turner} />
    </nav>
  );
}
