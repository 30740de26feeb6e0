import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "./format.ts";

/** A column of a table: its heading, and what it shows of an item. */
export interface Column<T> {
  readonly title: string;
  /** The heading is for screen readers only. */
  readonly hidden?: boolean;
  /** Classes of its cells. */
  readonly class?: string;
  /** Numbers stand at the right, and so does their heading. */
  readonly end?: boolean;
  readonly cell: (item: T, index: number) => ComponentChildren;
}

/** The last column: buttons for what can be done with an item. */
export function actionColumn<T>(buttons: Column<T>["cell"]): Column<T> {
  return {
    title: "Actions",
    hidden: true,
    cell: (item, index) => <div class="actions">{buttons(item, index)}</div>,
  };
}

interface DataTableProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
  /** What stands there when there are no items. */
  readonly empty?: ComponentChildren;
  /** Items that are shown; how many more there are is said below. */
  readonly most?: number;
  readonly class?: string;
  /**
   * A row shows nothing but its item: while that says the same, it is not drawn anew, and many new ones are drawn some at a time.
   * For long lists that are read again and again; `columns` must stay the same list then.
   */
  readonly steady?: boolean;
  /** Classes of the box that the table is in. */
  readonly box?: string;
}

/** Items, one a row. On a narrow screen a row becomes a block of its cells. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { items, keyOf, columns, empty, most = items.length } = props;
  const drawn = useDrawn<T>(columns);
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
            {items.slice(0, most).map((item, index) => {
              const row = () => (
                <tr key={keyOf(item)}>
                  {columns.map(({ title, class: name, end, cell }) => (
                    <td key={title} class={classes(end && "end", name)}>
                      {cell(item, index)}
                    </td>
                  ))}
                </tr>
              );
              return props.steady === true ? drawn(keyOf(item), item, row) : row();
            })}
          </tbody>
        </table>
      </div>
      {items.length > most && <p class="muted">and {count(items.length - most)} more</p>}
    </>
  );
}

/** New rows that are drawn at one time: two hundred would hold the screen up for longer than one notices. */
const SLICE = 10;

/**
 * Gives the rows that were drawn last for items that say the same: Preact passes over what it has drawn already. Of the others
 * some are drawn at a time, with the screen painted in between; until then they are as they were, or not there.
 */
function useDrawn<T>(columns: readonly Column<T>[]) {
  const [, goOn] = useState(0);
  const kept = useRef<{ columns: unknown; rows: Map<string, { said: string; row: VNode }> }>({
    columns: null,
    rows: new Map(),
  });
  if (kept.current.columns !== columns) kept.current = { columns, rows: new Map() };
  const before = kept.current.rows;
  const rows: typeof before = new Map();
  kept.current.rows = rows;
  let left = SLICE;
  let complete = true;
  useEffect(() => {
    if (complete) return;
    const timer = setTimeout(() => goOn((slices) => slices + 1));
    return () => clearTimeout(timer);
  });
  return (key: string, item: T, draw: () => VNode): VNode | null => {
    const said = JSON.stringify(item);
    const known = before.get(key);
    if (known !== undefined && (known.said === said || left === 0)) {
      if (known.said !== said) complete = false;
      rows.set(key, known);
      return known.row;
    }
    if (left === 0) {
      complete = false;
      return null;
    }
    left -= 1;
    const row = draw();
    rows.set(key, { said, row });
    return row;
  };
}

/** The value of a `class`: undefined when there is none. */
function classes(...names: readonly (string | false | undefined)[]): string | undefined {
  return names.filter(Boolean).join(" ") || undefined;
}
