import type { Config } from "../../../core/config/schema.ts";
import type { CatalogueModel, RouteTarget } from "../../../core/conversation/model.ts";
import type { RouteStrategy } from "../../../core/conversation/route-strategy.ts";
import { oncePer } from "../../../core/encoding/once.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import type { ExpectedTokens } from "../../../pool/limits/limited-use.ts";
import { findRequestCost } from "../../../records/usage/prices.ts";
import { FirstTokenTimes } from "./first-token-times.ts";
import { orderByStrategy, type TargetFacts } from "./route-order.ts";

/** The targets of a route in the order of its strategy. */
interface StrategicOrder {
  readonly targets: readonly RouteTarget[];
  /** Records how long a model took until its first token. Absent: the strategy does not need it. */
  recordFirstToken?(id: string, ms: number): void;
}

const getFirstTokenTimes = oncePer((_: Platform) => new FirstTokenTimes());

/** The facts of targets for a request of the given size. */
function createFacts(config: Config, platform: Platform, getTokens: () => ExpectedTokens): TargetFacts {
  const times = getFirstTokenTimes(platform);
  const now = platform.now();
  return {
    promptTokens: () => getTokens().prompt,
    findCost: ({ id }) => {
      const { prompt, answer } = getTokens();
      return findRequestCost(config, { model: id, promptTokens: prompt, completionTokens: answer });
    },
    findFirstTokenMs: ({ id }) => times.find(id, now),
  };
}

/** A target of a route, with the facts by which strategies order it. */
interface RankedTarget {
  readonly model: CatalogueModel;
  readonly costNano: number | null;
  /** Null: not measured recently. */
  readonly firstTokenMs: number | null;
}

/** Returns the targets in the order in which a request of the given size would try them, without being one. */
export function previewOrder(
  config: Config,
  platform: Platform,
  strategy: RouteStrategy,
  targets: readonly RouteTarget[],
  tokens: ExpectedTokens,
): RankedTarget[] {
  const facts = createFacts(config, platform, () => tokens);
  const ordered = strategy === "order" ? targets : orderByStrategy(strategy, targets, facts);
  return ordered.map(({ model }) => {
    const ms = facts.findFirstTokenMs(model);
    const firstTokenMs = ms !== null && Number.isFinite(ms) ? ms : null;
    return { model, costNano: facts.findCost(model), firstTokenMs };
  });
}

/**
 * Orders the targets of a route that has a strategy.
 *
 * @param estimateTokens the expected tokens of the request; called at most once
 */
export async function orderTargets(
  { platform, config: readConfig }: Pick<Context, "platform" | "config">,
  strategy: Exclude<RouteStrategy, "order">,
  given: readonly RouteTarget[],
  estimateTokens: () => ExpectedTokens,
): Promise<StrategicOrder> {
  const { config } = await readConfig();
  const times = getFirstTokenTimes(platform);
  const now = platform.now();
  let estimated: ExpectedTokens | undefined;
  const getTokens = (): ExpectedTokens => {
    estimated ??= estimateTokens();
    return estimated;
  };
  const targets = orderByStrategy(strategy, given, createFacts(config, platform, getTokens));
  if (strategy !== "fastest") return { targets };
  const [first] = targets;
  if (first !== undefined && times.find(first.model.id, now) === null) times.beginTrial(first.model.id, now);
  return { targets, recordFirstToken: (id, ms) => times.record(id, ms, platform.now()) };
}
