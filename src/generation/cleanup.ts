import type { Access } from "../accounts/access.ts";
import type { Context } from "../platform/context.ts";

const TIMEOUT_MS = 15_000;

/**
 * What `auto_delete` asks for once a generation is over: its session goes (`single`), or all of the account's (`all`).
 * Runs after the response and never fails it.
 */
export function afterGeneration(context: Context, access: Access, sessionId: string): void {
  if (sessionId === "") return;
  const clean = async () => {
    const { config } = await context.config();
    const { mode } = config.auto_delete;
    if (mode === "none") return;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const provider = context.provider();
    if (mode === "single") await provider.deleteSession(access.account, sessionId, signal);
    else await provider.deleteAllSessions(access.account, signal);
  };
  context.waitUntil(clean().catch(() => undefined));
}
