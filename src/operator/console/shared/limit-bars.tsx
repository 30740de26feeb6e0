import { formatCompact, formatCost } from "../ui/format.ts";
import { words } from "../ui/words.ts";
import { LIMIT_FIELDS } from "./limit-draft.ts";
import type { LimitUse } from "./limit-use.ts";
import { PRICES_HREF } from "./prices-link.ts";
import { texts } from "./texts.ts";

/** Share of a limit from which its bar warns. */
const WARNING_SHARE = 0.8;

const toTone = (used: number, limit: number): string =>
  used >= limit ? "used-up" : used >= limit * WARNING_SHARE ? "nearly-used-up" : "";

interface LimitBarsProps {
  readonly uses: readonly LimitUse[];
  /** Number of models whose use a budget of cost does not count. */
  readonly unpricedModels: number;
}

/** Bars of what is used of limits. */
export function LimitBars({ uses, unpricedModels }: LimitBarsProps) {
  return (
    <>
      {uses.map(({ name, used, limit }) => {
        const label = LIMIT_FIELDS.find((field) => field.name === name)?.label ?? name;
        const format = name.startsWith("cost") ? formatCost : formatCompact;
        return (
          <div key={name} class={`limit-bar ${toTone(used, limit)}`}>
            <progress aria-label={label} value={Math.min(used, limit)} max={limit} />
            <span class="muted tabular">
              {texts.usedOfLimit(format(used), format(limit), label)}
              {used >= limit && <strong>{` · ${texts.usedUp}`}</strong>}
            </span>
          </div>
        );
      })}
      {unpricedModels > 0 && (
        <a class="unpriced" href={PRICES_HREF}>
          {texts.notCountedWithoutPrice(words.modelCount(unpricedModels))}
        </a>
      )}
    </>
  );
}
