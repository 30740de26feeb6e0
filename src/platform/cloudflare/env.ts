import type { AccountPool } from "../../../durable-objects/account-pool.ts";
import type { Administration } from "../../../durable-objects/administration.ts";
import type { BrowserSession } from "../../../durable-objects/browser-session.ts";
import type { Configuration } from "../../../durable-objects/configuration.ts";
import type { History } from "../../../durable-objects/history.ts";
import type { RateLimiter } from "../../../durable-objects/rate-limiter.ts";
import type { ResponseStore } from "../../../durable-objects/response-store.ts";

/** The bindings of `wrangler.toml`. Variables and secrets are read by `variablesOf`. */
export interface Env {
  readonly CONFIG_KV?: KVNamespace;
  readonly ASSETS?: Fetcher;
  readonly BROWSER?: Fetcher;
  /** The sandbox provider, in development. */
  readonly SANDBOX?: Fetcher;
  readonly ACCOUNT_POOL: DurableObjectNamespace<AccountPool>;
  readonly RESPONSE_STORE: DurableObjectNamespace<ResponseStore>;
  readonly CONFIGURATION: DurableObjectNamespace<Configuration>;
  readonly HISTORY: DurableObjectNamespace<History>;
  readonly BROWSER_SESSION: DurableObjectNamespace<BrowserSession>;
  readonly ADMINISTRATION: DurableObjectNamespace<Administration>;
  readonly RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
}

type Bindings = Env;

declare global {
  namespace Cloudflare {
    /** What `import { env } from "cloudflare:workers"` gives. */
    interface Env extends Bindings {}
  }
}
