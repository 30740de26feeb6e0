import { type ComponentChildren, toChildArray } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { useIsNarrow } from "../use-media.ts";
import { words } from "../words.ts";

/** Charts that a narrow screen shows at first, unless a page says otherwise. */
const SHOWN_NARROW = 2;

interface ChartListProps {
  readonly label: string;
  /** Charts that a narrow screen shows at first. */
  readonly shownNarrow?: number;
  readonly children: ComponentChildren;
}

/** Several charts. A narrow screen shows the first ones, until the user asks for the others. */
export function ChartList({ label, shownNarrow = SHOWN_NARROW, children }: ChartListProps) {
  const isNarrow = useIsNarrow();
  const [showsAll, setShowsAll] = useState(false);
  const charts = toChildArray(children);
  const isCut = isNarrow && !showsAll && charts.length > shownNarrow;
  return (
    <section class="charts" aria-label={label}>
      {isCut ? charts.slice(0, shownNarrow) : charts}
      {isCut && (
        <Button onClick={() => setShowsAll(true)}>{words.moreCharts(charts.length - shownNarrow)}</Button>
      )}
    </section>
  );
}
