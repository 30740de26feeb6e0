import { Button } from "./button.tsx";
import { formatCount } from "./count.ts";
import type { Paging } from "./use-paging.ts";
import { words } from "./words.ts";

interface PagerProps {
  readonly paging: Paging;
  readonly pages: number;
  readonly sizes: readonly number[];
  /** Number of items, as a text. */
  readonly said: string;
}

/** Controls for the page number and the page size of a list. */
export function Pager({ paging, pages, sizes, said: total }: PagerProps) {
  const { page, size, turnTo, resize } = paging;
  return (
    <nav class="pager" aria-label={words.pagesList}>
      <span class="muted">{total}</span>
      <label class="pager-size">
        <span class="muted">{words.show}</span>
        <select value={String(size)} onChange={(event) => resize(Number(event.currentTarget.value))}>
          {sizes.map((choice) => (
            <option key={choice} value={String(choice)}>
              {formatCount(choice)}
            </option>
          ))}
        </select>
      </label>
      <div class="row">
        <Button disabled={page <= 1} onClick={() => turnTo(page - 1)}>
          {words.previous}
        </Button>
        <span class="tabular">
          {formatCount(page)} / {formatCount(Math.max(pages, 1))}
        </span>
        <Button disabled={page >= pages} onClick={() => turnTo(page + 1)}>
          {words.next}
        </Button>
      </div>
    </nav>
  );
}
