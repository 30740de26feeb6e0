import type { UsageItem } from "../../api/usage.ts";
import { formatProviderErrors } from "../../shared/provider-usage.ts";
import { formatCount } from "../../ui/count.ts";
import { formatDuration } from "../../ui/format.ts";
import type { Column } from "../../ui/tables/data-table.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** Columns with the requests, the error rate and the latency of each provider. `find` returns a provider's usage. */
export function usageColumns<T>(find: (item: T) => UsageItem | undefined): readonly Column<T>[] {
  return [
    {
      title: words.requests,
      end: true,
      class: "tabular",
      cell: (item) => formatCount(find(item)?.requests ?? 0),
    },
    {
      title: texts.failedAttempts,
      end: true,
      class: "tabular",
      cell: (item) => {
        const usage = find(item);
        return usage === undefined ? "–" : formatProviderErrors(usage);
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
