/** Splits `total` in proportion to `weights` into integers whose sum is exactly `total`. A `total` of 0 gives 0 for each. */
export function splitProportionally(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((subtotal, weight) => subtotal + weight, 0);
  if (total === 0 || sum === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  const remainder = total - shares.reduce((subtotal, share) => subtotal + share, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder.slice(0, remainder)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
