import { ALERT_KINDS } from "../../../../src/core/ports/alerts.ts";
import { Watcher } from "../../../../src/operator/alerts/watcher.ts";
import { createWatchStateStore } from "../../../../src/runtime/deno/watch-state-store.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

const SECRET = `whsec_${"QQ".repeat(16)}`;
const CONFIG = {
  alerts: {
    webhooks: [
      { id: "one", url: "https://hooks.example.com/one", secret: SECRET },
      { id: "two", url: "https://hooks.example.com/two", secret: SECRET, format: "chat" as const },
    ],
  },
};

interface Store {
  readonly watcher: Watcher;
  /** What webhooks answer next: a status; 0: nothing. */
  answer(status: number): void;
}

const alertOf = (choose: Choices) => ({
  kind: choose.of(...ALERT_KINDS),
  subject: choose.text(),
  message: choose.text(),
  value: choose.number(),
  threshold: choose.number(),
});

let platform: ReturnType<typeof memoryPlatform> | undefined;

/** The active alerts, and the deliveries that wait. */
export const alerts = storeTarget<Store, { status: unknown }>({
  name: "alerts",
  // The watcher keeps what it could not store in memory, and stores it with the next change.
  faults: false,
  open: async (sql, now) => {
    let next = 200;
    platform ??= memoryPlatform({ config: CONFIG });
    const fetch = async () => {
      if (next === 0) throw new TypeError("unreachable");
      return new Response(null, { status: next });
    };
    return {
      watcher: new Watcher({ platform: { ...(await platform), now, fetch }, ...createWatchStateStore(sql) }),
      answer: (status) => {
        next = status;
      },
    };
  },
  model: () => ({ status: { firing: [], deliveries: [] } }),
  operations: [
    async ({ watcher }, choose, model) => {
      await watcher.report(alertOf(choose));
      model.status = watcher.status();
    },
    async ({ watcher, answer }, choose, model) => {
      answer(choose.of(200, 204, 302, 500, 0));
      await watcher.runRound();
      model.status = watcher.status();
    },
    async ({ watcher, answer }, choose, model) => {
      answer(choose.of(200, 404, 0));
      await watcher.test(choose.of("one", "two", "none"));
      model.status = watcher.status();
    },
  ],
  check: ({ watcher }, { status }) => same("status", watcher.status(), status),
});
