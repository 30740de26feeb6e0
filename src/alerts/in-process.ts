import type { AlertWatcher } from "../platform/alerts.ts";
import { Watcher, type WatcherOptions } from "./watcher.ts";

/** What a watcher remembers ends with the process. */
const FORGETFUL: Pick<WatcherOptions, "load" | "save"> = { load: () => null, save: () => undefined };

/** Who watches over a program that runs in one process; what it remembers is kept in `memory`. */
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
