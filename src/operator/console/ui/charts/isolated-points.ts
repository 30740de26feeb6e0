/** Returns the indexes of values without a neighbor. The chart draws them as points, because a line would not show them. */
export function findIsolatedPoints(values: readonly (number | null | undefined)[]): number[] {
  const hasValue = (index: number) => typeof values[index] === "number";
  return values.flatMap((_, index) =>
    hasValue(index) && !hasValue(index - 1) && !hasValue(index + 1) ? [index] : [],
  );
}
