/** Tasks that run at the same time. Callers choose how many attachments a request has, and each takes connections. */
const MAX_PARALLEL = 10;

/**
 * Runs tasks, a few of them at the same time. When one fails, aborts the others: their results are useless, and they would
 * outlive their request.
 *
 * @param tasks each must obey the signal
 * @returns the results, in the order of the tasks
 * @throws the error of the first task that fails
 */
export async function allOrAbort<T>(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const results = new Map<number, T>();
  const waiting = tasks.entries();
  const runWaiting = async () => {
    for (const [index, task] of waiting) {
      either.throwIfAborted();
      results.set(index, await task(either));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, tasks.length) }, runWaiting));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}
