import { editDistance } from "../../core/encoding/edit-distance.ts";

/** How many characters of a name may differ from what was asked for. */
function maxDistance(length: number): number {
  if (length <= 4) return 1;
  return length <= 8 ? 2 : 3;
}

/**
 * How far a listed name is from a requested one, in lower case; infinite: too far.
 * `provider/name` is also near to `name`.
 */
export function compareNames(requested: string, listed: string): number {
  const max = maxDistance(requested.length);
  const forms = [listed, listed.slice(listed.indexOf("/") + 1), listed.replace(/:[^:/]*$/, "")];
  const near = forms.filter((form) => Math.abs(form.length - requested.length) <= max);
  const distance = Math.min(...near.map((form) => editDistance(requested, form)));
  return distance <= max ? distance : Number.POSITIVE_INFINITY;
}
