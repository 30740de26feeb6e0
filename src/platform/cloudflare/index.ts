import { waitUntil } from "cloudflare:workers";
import { needsNoAccount } from "../../provider/drivers.ts";
import { proxiedFetch } from "../../provider/proxy/fetch.ts";
import { shardNames } from "../../shards/layout.ts";
import type { AccountPoolClient } from "../accounts.ts";
import type { Platform } from "../platform.ts";
import type { Fetch } from "../upstream.ts";
import type { Variables } from "../variables.ts";
import { cloudflareAccounts } from "./accounts.ts";
import { cloudflareAdministration } from "./administration.ts";
import { cloudflareAlerts } from "./alerts.ts";
import { cloudflareArchive } from "./archive.ts";
import { cloudflareConfiguration, cloudflareJournal } from "./configuration.ts";
import type { Env } from "./env.ts";
import { cloudflarePages } from "./pages.ts";
import { placeOfIsolate } from "./place.ts";
import { SYSTEM_CLOCK } from "./pool-stub.ts";
import { shardedAccounts } from "./sharded-accounts.ts";
import { dial } from "./sockets.ts";
import { storedResponses } from "./stored-responses.ts";
import { cloudflareUsage } from "./usage.ts";
import { variablesOf } from "./variables.ts";
import { upgrade } from "./web-socket.ts";

/** Base URL of the sandbox binding. The name is never looked up. */
const SANDBOX_URL = "http://sandbox";

/** The runtime of Cloudflare Workers. Create it once per isolate. */
export function cloudflarePlatform(env: Env): Platform {
  const variables = variablesOf(env);
  const { SANDBOX: sandbox } = env;
  const direct: Fetch = (url, init) => fetch(url, init);
  const viaSandbox = variables.providerBaseUrl === null && sandbox !== undefined;
  const upstream: Fetch = viaSandbox
    ? (url, init) => (url.startsWith(`${SANDBOX_URL}/`) ? sandbox.fetch(url, init) : fetch(url, init))
    : direct;
  return {
    variables,
    configuration: cloudflareConfiguration(env),
    configPath: "durable-object:Configuration/main",
    accounts: accountsOf(env, variables),
    archive: cloudflareArchive(env),
    usage: cloudflareUsage(env),
    administration: cloudflareAdministration(env),
    journal: cloudflareJournal(env),
    alerts: cloudflareAlerts(env),
    responses: (owner) => storedResponses(env, owner, variables.kept),
    files: (owner) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getFile(id),
        list: () => store.listFiles(),
        put: (file) => store.putFile(file),
      };
    },
    uploads: (owner) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getUpload(id),
        put: (upload) => store.putUpload(upload),
        getPiece: (id) => store.getPiece(id),
        putPiece: (piece) => store.putPiece(piece),
        remove: (id) => store.removeUpload(id),
      };
    },
    fetch: direct,
    deploymentFetch: direct,
    upstream: (proxy) => (proxy === null ? upstream : proxiedFetch(dial, proxy)),
    // According to reports the production network does not; workerd itself does name the server.
    namesServerThroughProxy: false,
    providerBaseUrl: variables.providerBaseUrl ?? (viaSandbox ? SANDBOX_URL : null),
    providerSignsIn: !needsNoAccount(variables.providerDriver),
    upgrade,
    pages: cloudflarePages(env, variables.pages),
    asset: async (request) => {
      if (env.ASSETS === undefined) return null;
      const response = await env.ASSETS.fetch(request);
      return response.status === 404 ? null : response;
    },
    now: Date.now,
  };
}

function accountsOf(env: Env, variables: Variables): AccountPoolClient {
  const { poolShards, poolRegions } = variables;
  if (poolShards === 1) return cloudflareAccounts(env, { waitUntil });
  const clock = { ...SYSTEM_CLOCK, waitUntil };
  return shardedAccounts(env.ACCOUNT_POOL, shardNames(poolShards), poolRegions, placeOfIsolate, clock);
}
