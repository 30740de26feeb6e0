/** The places of values that no line leads to: each is drawn as a point, or it would not be seen at all. */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  const known = (place: number) => typeof values[place] === "number";
  return values.flatMap((_, place) =>
    known(place) && !known(place - 1) && !known(place + 1) ? [place] : [],
  );
}
