import type { UsageItem } from "../../api/usage.ts";
import { formatCount } from "../../ui/count.ts";
import type { Column } from "../../ui/data-table.tsx";
import { formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { formatShare } from "../usage/usage-view.ts";
import { texts } from "./texts.ts";

/** Columns with the requests, the error rate and the latency of each item. `find` returns an item's usage. */
export function usageColumns<T>(find: (item: T) => UsageItem | undefined): readonly Column<T>[] {
  return [
    {
      title: words.requests,
      end: true,
      class: "tabular",
      cell: (item) => formatCount(find(item)?.requests ?? 0),
    },
    {
      title: texts.errorsTitle,
      end: true,
      class: "tabular",
      cell: (item) => {
        const usage = find(item);
        return usage === undefined ? "–" : formatShare(usage.failed, usage.requests);
      },
    },
    {
      title: texts.firstTokenP95,
      end: true,
      class: "tabular muted",
      cell: (item) => {
        const time = find(item)?.first_token_ms ?? find(item)?.duration_ms;
        return time === null || time === undefined ? "–" : formatDuration(time.p95);
      },
    },
  ];
}
