/** Whether a list of names contains a name; a trailing `*` of an entry matches any ending. */
export function isListed(list: readonly string[], name: string): boolean {
  return list.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

/** A model: the name that the caller wrote, and the model that it leads to. */
export interface NamedModel {
  readonly requested: string;
  readonly id: string;
}

/** Whether a list of names contains a model, by either of its names. */
export function isModelListed(list: readonly string[], { requested, id }: NamedModel): boolean {
  return isListed(list, requested) || isListed(list, id);
}
