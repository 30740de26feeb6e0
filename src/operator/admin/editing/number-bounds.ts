import {
  LIMIT_KINDS,
  LIMIT_NAMES,
  type LimitKind,
  type LimitName,
} from "../../../core/config/limit-kinds.ts";
import type { Config } from "../../../core/config/schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";

/** The largest numbers that an edit may store. Larger ones are mistakes, and their sums are not exact. */
const MAX_REQUESTS = 1_000_000_000;
const MAX_TOKENS = 1_000_000_000_000_000;
/** Of a budget or a price, in the currency of the prices. */
const MAX_AMOUNT = 1_000_000_000_000;

/** A number of the configuration, with the name of its field. */
interface BoundedNumber {
  readonly field: string;
  readonly value: number;
  readonly max: number;
}

const LIMIT_BOUNDS: Readonly<Record<LimitKind["unit"], number>> = {
  requests: MAX_REQUESTS,
  tokens: MAX_TOKENS,
  cost: MAX_AMOUNT,
};

/** Limits as the configuration has them. */
type Limits = Readonly<Partial<Record<LimitName, number | undefined>>>;

const listLimits = (place: string, limits: Limits = {}): BoundedNumber[] =>
  LIMIT_NAMES.map((name) => ({
    field: `${place}.limits.${name}`,
    value: limits[name] ?? 0,
    max: LIMIT_BOUNDS[LIMIT_KINDS[name].unit],
  }));

const listPrices = (place: string, price: object = {}): BoundedNumber[] =>
  Object.entries(price).flatMap(([name, value]) =>
    typeof value === "number" ? [{ field: `${place}.${name}`, value, max: MAX_AMOUNT }] : [],
  );

/** The numbers that are too large. */
function findHugeNumbers(config: Config): BoundedNumber[] {
  const isHuge = ({ value, max }: BoundedNumber) => value > max;
  const numbers = listLimits("default_provider", config.default_provider.limits).filter(isHuge);
  for (const list of ["api_keys", "teams", "users", "tags", "providers"] as const)
    for (const [index, { limits }] of config[list].entries())
      if (limits !== undefined) numbers.push(...listLimits(`${list}[${index}]`, limits).filter(isHuge));
  for (const [model, price] of Object.entries(config.prices))
    numbers.push(...listPrices(`prices.${model}`, price).filter(isHuge));
  for (const [index, { models }] of config.providers.entries())
    for (const [name, model] of Object.entries(models))
      if (typeof model === "object")
        numbers.push(...listPrices(`providers[${index}].models.${name}.price`, model.price).filter(isHuge));
  return numbers;
}

/**
 * Rejects numbers above their bound. A value that the configuration has already, in any field, is allowed: entries may move
 * within their lists.
 *
 * @throws GatewayError 400 that names the field.
 */
export function rejectHugeNumbers(before: Config, after: Config): void {
  const huge = findHugeNumbers(after);
  if (huge.length === 0) return;
  const known = new Set(findHugeNumbers(before).map(({ value }) => value));
  const rejected = huge.find(({ value }) => !known.has(value));
  if (rejected === undefined) return;
  const { field, max } = rejected;
  throw invalidRequest(`${field}: must be at most ${max}`, field);
}
