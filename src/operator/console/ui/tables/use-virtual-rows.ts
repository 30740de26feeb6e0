import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Rows are as high as the others unless `extraHeights` says more. */
const NO_EXTRA_HEIGHTS: readonly number[] = [];

/**
 * Returns the visible rows of `count` rows in a scrolling element, and the total height.
 *
 * @param extraHeights how much higher than `rowHeight` a row is, by its index; a stable reference
 */
export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  extraHeights: readonly number[] = NO_EXTRA_HEIGHTS,
): { items: VirtualItem[]; height: number } {
  const [, redraw] = useState(0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (index: number) => rowHeight + (extraHeights[index] ?? 0),
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((count) => count + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => {
    void [rowHeight, extraHeights];
    virtualizer.measure();
  }, [virtualizer, rowHeight, extraHeights]);
  return { items: virtualizer.getVirtualItems(), height: virtualizer.getTotalSize() };
}
