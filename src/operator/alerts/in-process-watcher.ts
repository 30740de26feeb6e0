import type { AlertWatcher } from "../../core/ports/alerts.ts";
import { Watcher, type WatcherOptions } from "./watcher.ts";

/** No storage: the watcher's state ends with the process. */
const NO_STORAGE: Pick<WatcherOptions, "load" | "save"> = { load: () => null, save: () => undefined };

/** The alert watcher of a self-hosted process; `storage` keeps its state. */
export function createInProcessWatcher(
  platform: WatcherOptions["platform"],
  storage: Pick<WatcherOptions, "load" | "save"> = NO_STORAGE,
): AlertWatcher {
  const watcher = new Watcher({ platform, ...storage });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const runRound = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const next = await watcher.runRound();
    if (next === null) return;
    clearTimeout(timer);
    timer = setTimeout(() => void runRound(), next);
  };
  return {
    // Callers do not wait for the round: a webhook may take long to answer.
    startChecks: () => {
      if (timer === undefined) void runRound();
    },
    reportAlert: async (alert) => {
      await watcher.report(alert);
      void runRound();
    },
    sendTestAlert: (webhook) => watcher.test(webhook),
    getStatus: () => watcher.status(),
  };
}
