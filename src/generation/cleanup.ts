import type { Context } from "../platform/context.ts";
import { providerOf } from "../provider/of-platform.ts";
import type { UpstreamAccount } from "../provider/provider.ts";

const TIMEOUT_MS = 15_000;

/**
 * What `auto_delete` asks for once a generation is over: its session goes (`single`), or all of the account's (`all`).
 * Runs after the response and never fails it.
 */
export function afterGeneration(context: Context, account: UpstreamAccount, sessionId: string): void {
  const { sessions } = providerOf(context.platform);
  if (sessionId === "" || sessions === undefined) return;
  const clean = async () => {
    const { config } = await context.config();
    const { mode } = config.auto_delete;
    if (mode === "none") return;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (mode === "single") await sessions.delete(account, sessionId, signal);
    else await sessions.deleteAll(account, signal);
  };
  context.waitUntil(clean().catch(() => undefined));
}
