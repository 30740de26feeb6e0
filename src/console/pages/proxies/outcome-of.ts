import { messageOf } from "../../api/client.ts";
import type { ProxyTest } from "../../api/proxies.ts";

/** What a test came to; one that could not be done is one that failed. */
export const outcomeOf = (test: Promise<ProxyTest>): Promise<ProxyTest> =>
  test.catch((thrown) => ({ success: false, latency_ms: 0, message: messageOf(thrown) }));
