/** Resolves when the work has ended, or after `milliseconds`. */
export async function waitAtMost(promise: Promise<void>, milliseconds: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, milliseconds);
  try {
    await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
