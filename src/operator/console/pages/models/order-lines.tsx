import { readRouteOrder } from "../../api/routes.ts";
import type { Route } from "../../api/settings.ts";
import { describeOrder } from "./describe-order.ts";
import type { Strategy } from "./route-text.ts";

export type OrderText = ReturnType<typeof describeOrder>;

interface OrderedRoute {
  readonly models: Route;
  readonly strategy: Strategy;
  readonly hasWeights: boolean;
}

/** Asks the gateway in which order a route tries its models now. */
export const readOrderText = async ({ models, strategy, hasWeights }: OrderedRoute): Promise<OrderText> =>
  describeOrder(strategy, hasWeights, await readRouteOrder(models, strategy));

/** Shows which model of a route is asked first now, and why. */
export function OrderLines({ order }: { readonly order: OrderText | null }) {
  if (order === null) return null;
  return (
    <div aria-live="polite" class="stack">
      <p>
        <strong>{order.lead}</strong>
      </p>
      <ol class="preview-lines">
        {order.lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ol>
    </div>
  );
}
