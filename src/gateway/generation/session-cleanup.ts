import type { Context } from "../../core/ports/context.ts";
import type { Provider } from "../providers/provider.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";

const TIMEOUT_MS = 15_000;

/**
 * Deletes chat sessions after a generation as `auto_delete` says: the sessions of this generation (`single`) or all of the
 * account's (`all`). It waits for sessions that are still being created. It runs after the response, and its errors are
 * ignored.
 */
export function scheduleSessionCleanup(
  context: Context,
  { sessions: sessionApi }: Pick<Provider, "sessions">,
  account: UpstreamAccount,
  sessions: readonly Promise<string>[],
): void {
  if (sessions.length === 0 || sessionApi === undefined) return;
  const deleteSessions = async () => {
    const outcomes = await Promise.allSettled(sessions);
    const { config } = await context.config();
    const { mode } = config.auto_delete;
    const createdSessions = outcomes.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value] : [],
    );
    if (mode === "none" || createdSessions.length === 0) return;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (mode === "all") await sessionApi.deleteAll(account, signal);
    else
      await Promise.allSettled(createdSessions.map((session) => sessionApi.delete(account, session, signal)));
  };
  context.waitUntil(deleteSessions().catch(() => undefined));
}
