/** Returns the indexes of values without a neighbor. The chart draws them as points, because a line would not show them. */
export function findIsolatedPoints(values: readonly (number | null | undefined)[]): number[] {
  const known = (place: number) => typeof values[place] === "number";
  return values.flatMap((_, place) =>
    known(place) && !known(place - 1) && !known(place + 1) ? [place] : [],
  );
}
