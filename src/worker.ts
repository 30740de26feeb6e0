import { refreshTokens } from "./accounts/refresh-tokens.ts";
import { handle } from "./app.ts";
import type { Env } from "./platform/cloudflare/env.ts";
import { cloudflarePlatform } from "./platform/cloudflare/index.ts";
import type { Platform } from "./platform/platform.ts";

export { AccountPool } from "../durable-objects/account-pool.ts";
export { Administration } from "../durable-objects/administration.ts";
export { BrowserSession } from "../durable-objects/browser-session.ts";
export { Configuration } from "../durable-objects/configuration.ts";
export { History } from "../durable-objects/history.ts";
export { RateLimiter } from "../durable-objects/rate-limiter.ts";
export { ResponseStore } from "../durable-objects/response-store.ts";

const platforms = new WeakMap<Env, Platform>();

function platformOf(env: Env): Platform {
  let platform = platforms.get(env);
  if (platform === undefined) {
    platform = cloudflarePlatform(env);
    platforms.set(env, platform);
  }
  return platform;
}

export default {
  fetch: (request, env, ctx) =>
    handle(request, {
      platform: platformOf(env),
      clientAddress: request.headers.get("cf-connecting-ip") ?? "",
      waitUntil: (work) => ctx.waitUntil(work),
    }),
  scheduled: async (_event, env) => {
    await refreshTokens(platformOf(env));
  },
} satisfies ExportedHandler<Env>;
