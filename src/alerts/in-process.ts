import type { AlertWatcher } from "../platform/alerts.ts";
import { Watcher, type WatcherOptions } from "./watcher.ts";

/** No storage: the watcher's state ends with the process. */
const FORGETFUL: Pick<WatcherOptions, "load" | "save"> = { load: () => null, save: () => undefined };

/** The alert watcher of a self-hosted process; `memory` stores its state. */
export function watcherInProcess(
  platform: WatcherOptions["platform"],
  memory: Pick<WatcherOptions, "load" | "save"> = FORGETFUL,
): AlertWatcher {
  const watcher = new Watcher({ platform, ...memory });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const next = await watcher.round().catch(() => 30_000);
    if (next === null) return;
    clearTimeout(timer);
    timer = setTimeout(() => void round(), next);
  };
  return {
    look: () => (timer === undefined ? round() : undefined),
    report: async (alert) => {
      await watcher.report(alert);
      void round();
    },
    test: (webhook) => watcher.test(webhook),
    status: () => watcher.status(),
  };
}
