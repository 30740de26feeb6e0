import { setTimeout as sleep } from "node:timers/promises";
import { debuggerAt, liveHeap } from "../../test/support/inspector.ts";
import { tell } from "./process.mjs";
import { gatewayOnDeno, gatewayOnWorkerd, PATH } from "./subjects.mjs";
import { WORKLOADS } from "./workloads.mjs";

/** History and metrics are sent half a second after a request, and the message needs some time. */
const BEHIND_MS = 2_000;

/**
 * Measures the gateway's memory after load and garbage collection: objects and their buffers. Uses separate processes,
 * because a debugger slows the runtime down.
 *
 * @param {number} upstream its port
 * @returns {Promise<{ name: string, mb: number }[]>} megabytes (10^6 bytes)
 */
export async function heaps(upstream, load, { workerd, deno }) {
  const measured = [];
  if (workerd) {
    const gateway = await gatewayOnWorkerd(upstream, { settings: { inspectorPort: 0 } });
    const debuggerUrl = () =>
      gateway.miniflare.getInspectorURL().then((address) => debuggerAt(address, /subject/));
    measured.push(await heapOf({ ...gateway, debuggerUrl }, load));
  }
  const onDeno = deno ? await gatewayOnDeno(upstream, { inspected: true }) : null;
  if (onDeno !== null) {
    const { debuggerUrl } = onDeno;
    measured.push(await heapOf({ ...onDeno, debuggerUrl: async () => debuggerUrl }, load));
  }
  return measured;
}

async function heapOf({ name, port, debuggerUrl, close }, load) {
  try {
    const [, many, burst] = WORKLOADS;
    await tell(load, { ...many.job, port, path: PATH });
    await tell(load, { ...burst.job, port, path: PATH });
    await sleep(BEHIND_MS);
    const rouse = () => fetch(`http://127.0.0.1:${port}/healthz`).then((response) => response.text());
    return { name, mb: (await liveHeap(await debuggerUrl(), rouse)) / 1e6 };
  } finally {
    await close();
  }
}
