import { env } from "cloudflare:workers";
import { handleRequest } from "./app.ts";
import { clientAddress } from "./runtime/cloudflare/client-address.ts";
import { createCloudflarePlatform } from "./runtime/cloudflare/index.ts";
import { recordIsolatePlace } from "./runtime/cloudflare/isolate-place.ts";

export { AccountPool } from "../durable-objects/account-pool.ts";
export { Administration } from "../durable-objects/administration.ts";
export { Alerts } from "../durable-objects/alerts.ts";
export { BrowserSession } from "../durable-objects/browser-session.ts";
export { Configuration } from "../durable-objects/configuration.ts";
export { History } from "../durable-objects/history.ts";
export { PageJobs } from "../durable-objects/page-jobs.ts";
export { RateLimiter } from "../durable-objects/rate-limiter.ts";
export { ResponseStore } from "../durable-objects/response-store.ts";
export { Usage } from "../durable-objects/usage.ts";

/** Created when the Worker starts, so that an invalid variable prevents the start. */
const platform = createCloudflarePlatform(env);

export default {
  fetch: (request, _env, ctx) => {
    if (platform.variables.poolShards > 1) recordIsolatePlace(request);
    return handleRequest(request, {
      platform,
      clientAddress: clientAddress(request, platform.variables),
      waitUntil: (promise) => ctx.waitUntil(promise),
    });
  },
  scheduled: async () => {
    // Few isolates run the schedule.
    const [{ probeCircuits }, { refreshModels }, { refreshTokens }] = await Promise.all([
      import("./gateway/accounts/probe-circuits.ts"),
      import("./gateway/accounts/refresh-models.ts"),
      import("./gateway/accounts/refresh-tokens.ts"),
    ]);
    await Promise.all([
      probeCircuits(platform),
      refreshTokens(platform),
      refreshModels(platform),
      platform.alerts.startChecks(),
    ]);
  },
} satisfies ExportedHandler;
