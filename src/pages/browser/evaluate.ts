import type { CDPSession } from "@cloudflare/puppeteer";

/**
 * Evaluates an expression in a page and returns its value. Returns undefined if the page throws, navigates away, or
 * takes longer than `timeoutMs`.
 *
 * @param contextId an isolated world; without it, the page's own world, where the page can observe the evaluation
 */
export async function evaluate(
  session: CDPSession,
  expression: string,
  timeoutMs: number,
  contextId?: number,
): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  const value = session
    .send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
      ...(contextId !== undefined && { contextId }),
    })
    .then(
      ({ result, exceptionDetails }): unknown => (exceptionDetails === undefined ? result.value : undefined),
      () => undefined,
    );
  try {
    return await Promise.race([value, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Creates a world in the page's main frame that the page's scripts cannot change; undefined if the page is navigating
 * away.
 */
export async function createIsolatedWorld(session: CDPSession, frameId: string): Promise<number | undefined> {
  return session
    .send("Page.createIsolatedWorld", { frameId, worldName: "polygate" })
    .then(({ executionContextId }) => executionContextId)
    .catch(() => undefined);
}

/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Whether work settles, either way, within `ms` milliseconds. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([done, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
