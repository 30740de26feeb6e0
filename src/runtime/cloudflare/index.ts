import { waitUntil } from "cloudflare:workers";
import type { ConfigurationStore } from "../../core/config/snapshot.ts";
import type { AccountPoolClient } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch, OutboundProxy } from "../../core/ports/upstream.ts";
import { assertProviderAddress } from "../../core/variables/parse-variables.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { DRIVER_NAMES, needsNoAccount } from "../../gateway/providers/drivers.ts";
import { shardNames } from "../../pool/shards/layout.ts";
import { createAdministrationState } from "./administration.ts";
import { createAlertWatcher } from "./alerts.ts";
import { createArchive } from "./archive.ts";
import { createCallerStores } from "./caller-stores.ts";
import { createAuditLog, createConfigurationClient } from "./configuration.ts";
import type { Env } from "./env.ts";
import { getIsolatePlace } from "./isolate-place.ts";
import { createPagesPlatform, DEFAULT_CACHE } from "./pages.ts";
import { createAccountPoolClient } from "./pool-client/accounts.ts";
import { LocalAccounts } from "./pool-client/local-accounts.ts";
import { SYSTEM_CLOCK } from "./pool-client/pool-stub.ts";
import { createShardedAccountPool } from "./pool-client/sharded-accounts.ts";
import { dial } from "./sockets.ts";
import { createUsageStore } from "./usage.ts";
import { getVariables } from "./variables.ts";
import { upgradeWebSocket } from "./web-socket.ts";

/** Base URL of the sandbox binding. The name is never looked up. */
const SANDBOX_URL = "http://sandbox";

/** The runtime of Cloudflare Workers. Create it once per isolate. */
export function createCloudflarePlatform(env: Env): Platform {
  const variables = getVariables(env);
  const { SANDBOX: sandbox } = env;
  const direct: Fetch = (url, init) => fetch(url, init);
  const viaSandbox = variables.providerBaseUrl === null && sandbox !== undefined;
  if (viaSandbox) assertProviderAddress(variables, DRIVER_NAMES);
  const upstream = withStreamBodies(
    viaSandbox
      ? (url, init) => (url.startsWith(`${SANDBOX_URL}/`) ? sandbox.fetch(url, init) : fetch(url, init))
      : direct,
  );
  const configuration = createConfigurationClient(env);
  return {
    variables,
    configuration,
    configPath: "durable-object:Configuration/main",
    accounts: createAccounts(env, variables, configuration),
    archive: createArchive(env),
    usage: createUsageStore(env),
    administration: createAdministrationState(env),
    auditLog: createAuditLog(env),
    alerts: createAlertWatcher(env),
    ...createCallerStores(env, variables.storedObjectLimits),
    responseCache: DEFAULT_CACHE,
    fetch: direct,
    deploymentFetch: direct,
    upstreamFetch: (proxy) => (proxy === null ? upstream : fetchThroughProxy(proxy)),
    // According to reports the production network does not; workerd itself does name the server.
    supportsSniThroughProxy: false,
    providerBaseUrl: variables.providerBaseUrl ?? (viaSandbox ? SANDBOX_URL : null),
    providerSignsIn: !needsNoAccount(variables.providerDriver),
    upgradeToWebSocket: upgradeWebSocket,
    // Few isolates open WebSockets.
    openWebSocket: async (...request) => {
      const { openWebSocket } = await import("./provider-socket.ts");
      return openWebSocket(...request);
    },
    pages: createPagesPlatform(env, variables.pages),
    fetchAsset: async (request) => {
      if (env.ASSETS === undefined) return null;
      const response = await env.ASSETS.fetch(request);
      return response.status === 404 ? null : response;
    },
    now: Date.now,
  };
}

/** Sends bodies that are streams as workerd needs it. Only uploads have such a body. */
function withStreamBodies(fetch: Fetch): Fetch {
  const send = async (url: string, init: RequestInit, body: ReadableStream<Uint8Array>) => {
    const { fetchWithStream } = await import("./stream-body.ts");
    return fetchWithStream(fetch, url, init, body);
  };
  return (url, init) =>
    init?.body instanceof ReadableStream ? send(url, init, init.body) : fetch(url, init);
}

/** Creates the `fetch` through a proxy. Few deployments have one, so the protocols load with the first request. */
function fetchThroughProxy(proxy: OutboundProxy): Fetch {
  return async (url, init) => {
    const { proxiedFetch } = await import("../../gateway/upstream/proxy/proxied-fetch.ts");
    return proxiedFetch(dial, proxy)(url, init);
  };
}

function createAccounts(
  env: Env,
  { poolShards, poolRegions, queueTimeoutMs }: Variables,
  configuration: ConfigurationStore,
): AccountPoolClient {
  const clock = { ...SYSTEM_CLOCK, waitUntil };
  const pool =
    poolShards === 1
      ? createAccountPoolClient(env, clock)
      : createShardedAccountPool(
          env.ACCOUNT_POOL,
          shardNames(poolShards),
          poolRegions,
          getIsolatePlace,
          clock,
        );
  const deployment = { queueWaitMs: queueTimeoutMs, needsNoAccount };
  return new LocalAccounts({ pool, configuration, deployment, clock });
}
