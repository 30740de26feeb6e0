/** Of the names that a provider offers those under which none of its models is listed yet. */
export function unlisted(offered: readonly string[], models: Readonly<Record<string, string>>): string[] {
  const listed = new Set([...Object.keys(models), ...Object.values(models)]);
  return offered.filter((name) => !listed.has(name));
}

/** The names that have a text in them, whatever its case. */
export function namesWith(names: readonly string[], needle: string): string[] {
  const text = needle.trim().toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(text));
}
