import type { CatalogueModel, RouteTarget } from "../../../core/conversation/model.ts";
import type { RouteStrategy } from "../../../core/conversation/route-strategy.ts";

/** The facts by which strategies order the targets of a route. */
export interface TargetFacts {
  /** Estimated tokens of the prompt. */
  promptTokens(): number;
  /** The estimated cost of the request with a model; null: the model has no price. */
  findCost(model: CatalogueModel): number | null;
  /** How long a model usually takes until its first token, milliseconds; null: the next request should measure it. */
  findFirstTokenMs(model: CatalogueModel): number | null;
}

/** Ranks a target: lower groups come first, and lower values within a group. */
type Rank = readonly [group: number, value: number];

function rankByCost({ findCost }: TargetFacts): (model: CatalogueModel) => Rank {
  return (model) => {
    const cost = findCost(model);
    return cost === null ? [1, 0] : [0, cost];
  };
}

function rankBySpeed({ findFirstTokenMs }: TargetFacts): (model: CatalogueModel) => Rank {
  return (model) => {
    const ms = findFirstTokenMs(model);
    return ms === null ? [0, 0] : [1, ms];
  };
}

/** The smallest context with room for the prompt, unknown contexts, then those that are too small, the largest first. */
function rankByContext({ promptTokens }: TargetFacts): (model: CatalogueModel) => Rank {
  const tokens = promptTokens();
  return ({ context }) => {
    if (context === undefined) return [1, 0];
    return context >= tokens ? [0, context] : [2, -context];
  };
}

/** Orders the targets of a route. Equal targets keep their sequence. */
export function orderByStrategy(
  strategy: Exclude<RouteStrategy, "order">,
  targets: readonly RouteTarget[],
  facts: TargetFacts,
): readonly RouteTarget[] {
  const createRanking = { cheapest: rankByCost, fastest: rankBySpeed, context: rankByContext }[strategy];
  const rank = createRanking(facts);
  return targets
    .map(({ model }) => ({ target: { model }, rank: rank(model) }))
    .sort((left, right) => left.rank[0] - right.rank[0] || compare(left.rank[1], right.rank[1]))
    .map(({ target }) => target);
}

/** Compares numbers, also infinite ones. */
function compare(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
