import type { RouteTarget } from "../../../core/conversation/model.ts";
import type { RouteStrategy } from "../../../core/conversation/route-strategy.ts";
import { oncePer } from "../../../core/encoding/once-per.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import type { ExpectedTokens } from "../../../pool/limits/limited-use.ts";
import { findRequestCost } from "../../../records/usage/prices.ts";
import { FirstTokenTimes } from "./first-token-times.ts";
import { orderByStrategy } from "./route-order.ts";

/** The targets of a route in the order of its strategy. */
interface StrategicOrder {
  readonly targets: readonly RouteTarget[];
  /** Records how long a model took until its first token. Absent: the strategy does not need it. */
  recordFirstToken?(id: string, ms: number): void;
}

const getFirstTokenTimes = oncePer((_: Platform) => new FirstTokenTimes());

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
  const targets = orderByStrategy(strategy, given, {
    promptTokens: () => getTokens().prompt,
    findCost: ({ id }) => {
      const { prompt, answer } = getTokens();
      return findRequestCost(config, { model: id, promptTokens: prompt, completionTokens: answer });
    },
    findFirstTokenMs: ({ id }) => times.find(id, now),
  });
  if (strategy !== "fastest") return { targets };
  const [first] = targets;
  if (first !== undefined && times.find(first.model.id, now) === null) times.beginTrial(first.model.id, now);
  return { targets, recordFirstToken: (id, ms) => times.record(id, ms, platform.now()) };
}
