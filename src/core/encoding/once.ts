/**
 * A function that creates a value at its first call and returns the same value afterwards. After a rejected promise, the
 * next call creates a new one.
 */
export function once<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => {
    if (cached !== undefined) return cached.value;
    const created = { value: make() };
    cached = created;
    if (created.value instanceof Promise)
      created.value.catch(() => {
        if (cached === created) cached = undefined;
      });
    return created.value;
  };
}

/**
 * A function that creates a value for each object, such as a platform or a configuration, at its first call with that
 * object. The value lives as long as the object. After an error or a rejected promise, the next call creates a new one.
 *
 * @param make may have further parameters if all calls with one object have the same arguments: only the first call's count
 */
export function oncePer<Key extends WeakKey, Rest extends readonly unknown[], T>(
  make: (key: Key, ...rest: Rest) => T,
): (key: Key, ...rest: Rest) => T {
  const values = new WeakMap<Key, () => T>();
  return (key, ...rest) => {
    const known = values.get(key);
    if (known !== undefined) return known();
    const getValue = once(() => make(key, ...rest));
    values.set(key, getValue);
    return getValue();
  };
}
