/** Finds the entry of a name in a table: first exactly, then ignoring case. */
export function findEntryIgnoringCase<T>(
  table: Readonly<Record<string, T>>,
  name: string,
): readonly [name: string, value: T] | undefined {
  const exact = table[name];
  if (Object.hasOwn(table, name) && exact !== undefined) return [name, exact];
  const lower = name.toLowerCase();
  return Object.entries(table).find(([entry]) => entry.toLowerCase() === lower);
}
