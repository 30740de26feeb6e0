import type { RouteOrder } from "../../api/routes.ts";
import { formatCount } from "../../ui/count.ts";
import { formatCost, formatDuration } from "../../ui/format.ts";
import type { Strategy } from "./route-text.ts";
import { texts } from "./texts.ts";

type Target = RouteOrder["targets"][number];

/** The fact by which a strategy orders a model, besides its cost. */
function describeFact(strategy: Strategy, { cost, first_token_ms: ms, context }: Target): string {
  if (strategy === "cheapest" && cost === null) return texts.noPriceLast;
  if (strategy === "fastest")
    return ms === null ? texts.notMeasured : texts.firstTokenAfter(formatDuration(ms));
  if (strategy === "context")
    return context === null ? texts.unknownContext : texts.contextOf(formatCount(context));
  return "";
}

/** Says which model of a route is asked first now, and why: one line for each model, in the order of the attempts. */
export function describeOrder(
  strategy: Strategy,
  hasWeights: boolean,
  { targets, prompt_tokens, completion_tokens }: RouteOrder,
): { readonly lead: string; readonly lines: readonly string[] } {
  if (targets.length === 0) return { lead: texts.noTargetExists, lines: [] };
  const first = targets.find(({ health }) => health !== "down") ?? targets[0];
  const reasons = {
    order: hasWeights ? texts.firstByWeight : texts.firstAsListed(first?.model ?? ""),
    cheapest: texts.firstAsCheapest(
      first?.model ?? "",
      formatCount(prompt_tokens),
      formatCount(completion_tokens),
    ),
    fastest: texts.firstAsFastest(first?.model ?? ""),
    context: texts.firstBySize(first?.model ?? "", formatCount(prompt_tokens)),
  };
  const costs = targets.flatMap(({ cost }) => cost ?? []);
  const least = Math.min(...costs);
  const saysCosts = costs.length > 0 && strategy !== "cheapest";
  const describeCost = ({ cost }: Target): string => {
    if (cost === null) return saysCosts ? texts.noPrice : "";
    const isCheapest = costs.length > 1 && cost === least;
    return isCheapest ? texts.costsLeast(formatCost(cost)) : texts.costs(formatCost(cost));
  };
  const tokens = texts.costsAreFor(formatCount(prompt_tokens), formatCount(completion_tokens));
  return {
    lead: saysCosts ? `${reasons[strategy]} ${tokens}` : reasons[strategy],
    lines: targets.map((target) => {
      const health = target.health === "healthy" ? "" : texts.healths[target.health];
      const facts = [describeFact(strategy, target), describeCost(target), health]
        .filter((fact) => fact !== "")
        .join(", ");
      return facts === "" ? target.model : `${target.model}: ${facts}`;
    }),
  };
}
