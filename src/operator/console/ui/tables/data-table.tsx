import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../count.ts";
import { words } from "../words.ts";

/** A column of a table: its heading and its cells. */
export interface Column<T> {
  readonly title: string;
  /** The heading is for screen readers only. */
  readonly hidden?: boolean;
  /** CSS classes of its cells. */
  readonly class?: string;
  /** Aligns cells and heading to the end, for numbers. */
  readonly end?: boolean;
  readonly cell: (item: T, index: number) => ComponentChildren;
}

/** Returns a last column with buttons for each item. */
export function actionColumn<T>(buttons: Column<T>["cell"]): Column<T> {
  return {
    title: words.actions,
    hidden: true,
    cell: (item, index) => <div class="actions">{buttons(item, index)}</div>,
  };
}

export interface DataTableProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
  /** Content of an empty table. */
  readonly empty?: ComponentChildren;
  /** Maximum number of items; a note shows how many more exist. */
  readonly most?: number;
  readonly class?: string;
  /**
   * Rows depend only on their items: an unchanged item is not rendered again, and many new rows are rendered in batches.
   * For long lists that refresh often; `columns` must then be a stable reference.
   */
  readonly steady?: boolean;
  /** CSS classes of the box around the table. */
  readonly box?: string;
  /** Opens an item when its row is clicked. Keyboards and screen readers use a link in the row, which `cell` renders. */
  readonly onOpen?: (item: T) => void;
}

const CONTROLS = ["a", "button", "input", "select", "textarea", "label", "summary"].join();

/** Whether a click on a row means the row: not a control in it, the end of a text selection, or a click with a modifier. */
function isRowClick({ target, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey) return false;
  if (!(target instanceof Element) || target.closest(CONTROLS) !== null) return false;
  return getSelection()?.isCollapsed ?? true;
}

/** A table with one item per row. On a narrow screen a row becomes a block of its cells. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { items, keyOf, columns, empty, onOpen, most: maxItems = items.length } = props;
  const renderRow = useIncrementalRows<T>(columns);
  if (items.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <>
      <div class={classes("table-box", props.box)}>
        <table class={props.class}>
          <thead>
            <tr>
              {columns.map(({ title, hidden, end }) => (
                <th key={title} scope="col" class={classes(end && "end")}>
                  {hidden ? <span class="hidden-text">{title}</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.slice(0, maxItems).map((item, index) => {
              const row = () => (
                <tr
                  key={keyOf(item)}
                  class={onOpen && "opens"}
                  onClick={onOpen && ((event) => isRowClick(event) && onOpen(item))}
                >
                  {columns.map(({ title, hidden, class: name, end, cell }) => (
                    <td
                      key={title}
                      class={classes(end && "end", name)}
                      data-label={hidden ? undefined : title}
                    >
                      {cell(item, index)}
                    </td>
                  ))}
                </tr>
              );
              return props.steady === true ? renderRow(keyOf(item), item, row) : row();
            })}
          </tbody>
        </table>
      </div>
      {items.length > maxItems && <p class="muted">{words.andMore(formatCount(items.length - maxItems))}</p>}
    </>
  );
}

/** New rows per batch. Rendering 200 rows at once would block the screen noticeably. */
const ROWS_PER_FRAME = 10;

/**
 * Reuses the rendered rows of unchanged items, so that Preact skips them. Renders other rows in batches, with a paint in
 * between; until then they stay as they were or are missing.
 */
function useIncrementalRows<T>(columns: readonly Column<T>[]) {
  const [, renderNextBatch] = useState(0);
  const rendered = useRef<{ columns: unknown; rows: Map<string, { json: string; row: VNode }> }>({
    columns: null,
    rows: new Map(),
  });
  if (rendered.current.columns !== columns) rendered.current = { columns, rows: new Map() };
  const previousRows = rendered.current.rows;
  const rows: typeof previousRows = new Map();
  rendered.current.rows = rows;
  let remaining = ROWS_PER_FRAME;
  let complete = true;
  useEffect(() => {
    if (complete) return;
    const timer = setTimeout(() => renderNextBatch((slices) => slices + 1));
    return () => clearTimeout(timer);
  });
  return (key: string, item: T, render: () => VNode): VNode | null => {
    const json = JSON.stringify(item);
    const previous = previousRows.get(key);
    if (previous !== undefined && (previous.json === json || remaining === 0)) {
      if (previous.json !== json) complete = false;
      rows.set(key, previous);
      return previous.row;
    }
    if (remaining === 0) {
      complete = false;
      return null;
    }
    remaining -= 1;
    const row = render();
    rows.set(key, { json, row });
    return row;
  };
}

/** Joins class names; undefined if there are none. */
function classes(...names: readonly (string | false | undefined)[]): string | undefined {
  return names.filter(Boolean).join(" ") || undefined;
}
