import { toMessage } from "../../api/client.ts";
import type { ProxyTest } from "../../api/proxies.ts";

/** Converts an error of the test request to a failed result. */
export const toProxyTest = (test: Promise<ProxyTest>): Promise<ProxyTest> =>
  test.catch((thrown) => ({ success: false, latency_ms: 0, message: toMessage(thrown) }));
