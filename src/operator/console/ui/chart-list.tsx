import { type ComponentChildren, toChildArray } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { useIsNarrow } from "./use-media.ts";
import { words } from "./words.ts";

/** Charts that a narrow screen shows at first. */
const SHOWN_NARROW = 2;

interface ChartListProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Several charts. A narrow screen shows the first ones, until the user asks for the others. */
export function ChartList({ label, children }: ChartListProps) {
  const isNarrow = useIsNarrow();
  const [showsAll, setShowsAll] = useState(false);
  const charts = toChildArray(children);
  const isCut = isNarrow && !showsAll && charts.length > SHOWN_NARROW;
  return (
    <section class="charts" aria-label={label}>
      {isCut ? charts.slice(0, SHOWN_NARROW) : charts}
      {isCut && (
        <Button onClick={() => setShowsAll(true)}>{words.moreCharts(charts.length - SHOWN_NARROW)}</Button>
      )}
    </section>
  );
}
