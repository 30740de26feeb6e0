/** Returns the member of a parsed JSON value at a path of names and indexes, or undefined. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, step);
  }
  return found;
}

/** Returns the string at a path, or an empty string. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : "";
}

/** Returns the number at a path, or 0. */
export function numberAt(value: unknown, ...path: readonly (string | number)[]): number {
  const found = valueAt(value, ...path);
  return typeof found === "number" ? found : 0;
}

/** Returns the array at a path, or an empty array. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}
