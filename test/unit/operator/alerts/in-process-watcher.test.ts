import { expect, test, vi } from "vitest";
import { createInProcessWatcher } from "../../../../src/operator/alerts/in-process-watcher.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";

test("starting the checks does not wait for a webhook that hangs", async () => {
  const secret = `whsec_${"A".repeat(32)}`;
  const webhooks = [{ id: "hangs", url: "https://hooks.example.com/", secret }];
  const platform = await memoryPlatform({ config: { accounts: [], alerts: { webhooks } } });
  const answer = Promise.withResolvers<Response>();
  const send = vi.fn(() => answer.promise);
  const watcher = createInProcessWatcher({ ...platform, fetch: send });
  await watcher.startChecks();
  await vi.waitFor(() => expect(send).toHaveBeenCalled());
  const { firing, deliveries } = await watcher.getStatus();
  expect([firing.length, deliveries[0]?.attempts]).toEqual([1, 0]);
  answer.resolve(new Response());
});
