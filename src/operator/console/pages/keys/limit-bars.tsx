import type { ApiKey } from "../../api/config.ts";
import { formatCompact } from "../../ui/format.ts";
import { formatCost } from "../usage/usage-view.ts";
import { listLimitUse } from "./key-list.ts";
import { texts } from "./texts.ts";

/** Bars of what a key has used of its daily limits. */
export function LimitBars({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <>
      {listLimitUse(apiKey).map(({ name, used, limit }) => {
        const label = name === "cost_per_day" ? texts.costDay : texts.tokensDay;
        const format = name === "cost_per_day" ? formatCost : formatCompact;
        return (
          <div key={name} class="limit-bar">
            <progress aria-label={label} value={Math.min(used, limit)} max={limit} />
            <span class="muted tabular">{texts.usedOfLimit(format(used), format(limit), label)}</span>
          </div>
        );
      })}
    </>
  );
}
