/**
 * Runs tasks in parallel. When one fails, aborts the others: their results are useless, and they would outlive their
 * request.
 *
 * @param start starts all tasks; each must obey the signal
 * @throws the error of the first task that fails
 */
export async function allOrAbort<T>(
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
