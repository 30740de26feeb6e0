import { once } from "./lazy-schema.ts";

/**
 * A function that creates a value for each object, such as a platform or a configuration, at its first call with that object.
 * The value lives as long as the object. After an error or a rejected promise, the next call creates a new one.
 */
export function oncePer<Key extends WeakKey, T>(make: (key: Key) => T): (key: Key) => T {
  const values = new WeakMap<Key, () => T>();
  return (key) => {
    const known = values.get(key);
    if (known !== undefined) return known();
    const getValue = once(() => make(key));
    values.set(key, getValue);
    return getValue();
  };
}
