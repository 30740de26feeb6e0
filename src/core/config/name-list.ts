/** Whether a list of names contains a name; a trailing `*` of an entry matches any ending. */
export function isListed(list: readonly string[], name: string): boolean {
  return list.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));
}
