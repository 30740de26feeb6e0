import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { debuggerAt, followUncaught } from "../support/inspector.ts";
import { json, startVendor } from "../support/passthrough-vendor.ts";
import { rawUpload } from "../support/raw-client.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const TOKEN = "sk-of-the-vendor-0123456789";
const vendor = await startVendor(() => json({ text: "Hello." }));
afterAll(() => vendor.close());

const api = useGateway({
  inspected: true,
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      accounts: [
        { email: "one@sandbox.test", password: "sandbox" },
        { token: TOKEN, name: "one", provider: "oa", email: "one@vendor.test" },
      ],
      providers: [{ id: "oa", driver: "openai", base_url: `${vendor.url}/v1`, token: TOKEN }],
    }),
  },
});

async function cut(path: string, how: "reset" | "close"): Promise<void> {
  const countEnded = () => api.gateway.logs().filter((line) => line.includes(path)).length;
  const before = countEnded();
  const client = await rawUpload(api.gateway, path, 1_500_000);
  await sleep(300);
  if (how === "reset") client.resetAndDestroy();
  else client.destroy();
  await expect.poll(countEnded).toBe(before + 1);
}

test("workerd reports no uncaught exception for uploads that break off", async () => {
  const address = await api.gateway.miniflare.getInspectorURL();
  const uncaught = await followUncaught(await debuggerAt(address, /user:polygate$/));
  for (const path of ["/v1/files", "/v1/audio/transcriptions"]) {
    for (const how of ["reset", "close"] as const) await cut(path, how);
  }
  await sleep(500);
  expect(uncaught).toEqual([]);
});
