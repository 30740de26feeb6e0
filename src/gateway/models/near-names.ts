/** How many characters of a name may differ from what was asked for. */
function maxDistance(length: number): number {
  if (length <= 4) return 1;
  return length <= 8 ? 2 : 3;
}

/** The number of characters to insert, delete or replace to make one text of the other. */
function computeDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, n) => n);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/**
 * How far a listed name is from a requested one, in lower case; infinite: too far.
 * `provider/name` is also near to `name`.
 */
export function compareNames(requested: string, listed: string): number {
  const max = maxDistance(requested.length);
  const forms = [listed, listed.slice(listed.indexOf("/") + 1), listed.replace(/:[^:/]*$/, "")];
  const near = forms.filter((form) => Math.abs(form.length - requested.length) <= max);
  const distance = Math.min(...near.map((form) => computeDistance(requested, form)));
  return distance <= max ? distance : Number.POSITIVE_INFINITY;
}
