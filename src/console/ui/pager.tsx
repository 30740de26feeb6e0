import { Button } from "./button.tsx";
import { count } from "./format.ts";

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly size: number;
  readonly sizes: readonly number[];
  /** How many there are, in words. */
  readonly said: string;
  readonly onPage: (page: number) => void;
  readonly onSize: (size: number) => void;
}

/** Moves between the pages of a list, and sets how long they are. */
export function Pager({ page, pages, size, sizes, said, onPage, onSize }: PagerProps) {
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span class="muted">{said}</span>
      <label class="pager-size">
        <span class="muted">Show</span>
        <select value={String(size)} onChange={(event) => onSize(Number(event.currentTarget.value))}>
          {sizes.map((choice) => (
            <option key={choice} value={String(choice)}>
              {count(choice)}
            </option>
          ))}
        </select>
      </label>
      <div class="row">
        <Button disabled={page <= 1} onClick={() => onPage(page - 1)}>
          Previous
        </Button>
        <span class="tabular">
          {count(page)} / {count(Math.max(pages, 1))}
        </span>
        <Button disabled={page >= pages} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </div>
    </nav>
  );
}
