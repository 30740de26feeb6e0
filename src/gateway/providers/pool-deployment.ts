import type { Variables } from "../../core/variables/variables.ts";
import type { PoolDeployment } from "../../pool/configuration.ts";
import { needsNoAccount } from "./drivers.ts";

/** What the pool's configuration depends on besides the runtime configuration, from the deployment's variables. */
export function createPoolDeployment({
  queueTimeoutMs,
  providerDriver,
  providerBaseUrl,
  providerToken,
}: Pick<
  Variables,
  "queueTimeoutMs" | "providerDriver" | "providerBaseUrl" | "providerToken"
>): PoolDeployment {
  return {
    queueWaitMs: queueTimeoutMs,
    needsNoAccount,
    defaultEndpoint: { driver: providerDriver, base_url: providerBaseUrl ?? "", token: providerToken },
  };
}
