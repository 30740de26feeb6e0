/**
 * Does what belongs together side by side. When one part fails the others are aborted: what comes of them helps nobody, and they would
 * go on behind the request that they were for.
 *
 * @param start begins all parts; each is to heed the signal
 * @throws what the first one failed with
 */
export async function together<T>(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<T>[],
): Promise<T[]> {
  const failed = new AbortController();
  try {
    return await Promise.all(start(AbortSignal.any([signal, failed.signal])));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
