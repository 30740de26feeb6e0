/** Calls `run` with every item, in order, on at most `limit` items at the same time. Rejects with the first failure. */
export async function runInParallel<T>(
  items: Iterable<T>,
  limit: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
