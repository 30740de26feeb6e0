import { withTimeout } from "../../../core/ports/clock.ts";

/** The part of a page's DevTools session that scripts need. */
export interface ScriptSession {
  send(
    method: "Runtime.evaluate",
    parameters: { expression: string; awaitPromise: true; returnByValue: true; contextId?: number },
  ): Promise<{ readonly result: { readonly value?: unknown }; readonly exceptionDetails?: unknown }>;
  send(
    method: "Page.createIsolatedWorld",
    parameters: { frameId: string; worldName: string },
  ): Promise<{ readonly executionContextId: number }>;
}

/** The part of a tab that scripts need. */
export interface ScriptTab {
  readonly session: ScriptSession;
  readonly policy: { readonly mainFrame: string };
}

/**
 * Evaluates an expression in the page's own world, where the page can observe and falsify it, and returns its value.
 * Returns undefined if the page throws, navigates away, or takes longer than `timeoutMs`.
 */
export function evaluateInPage(
  session: ScriptSession,
  expression: string,
  timeoutMs: number,
): Promise<unknown> {
  return evaluate(session, expression, timeoutMs);
}

/** As {@link evaluateInPage}, but in a world of the main frame that the page's scripts cannot change. */
export async function evaluateIsolated(
  { session, policy }: ScriptTab,
  expression: string,
  timeoutMs: number,
): Promise<unknown> {
  const contextId = await createIsolatedWorld(session, policy.mainFrame);
  return contextId === null ? undefined : evaluate(session, expression, timeoutMs, contextId);
}

/** A world in a frame that the page's scripts cannot change; null if the page is navigating away. */
export async function createIsolatedWorld(session: ScriptSession, frameId: string): Promise<number | null> {
  return session
    .send("Page.createIsolatedWorld", { frameId, worldName: "polygate" })
    .then(({ executionContextId }) => executionContextId)
    .catch(() => null);
}

async function evaluate(
  session: ScriptSession,
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

/** Whether work settles, either way, within `ms` milliseconds. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const done = work.then(
    () => true,
    () => true,
  );
  return (await withTimeout(done, ms)) ?? false;
}
