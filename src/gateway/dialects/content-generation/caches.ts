import { assertDialectAllowed, assertModelAllowed } from "../../../core/auth/access-rules.ts";
import type { Caller } from "../../../core/auth/callers.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { altersUrlPath } from "../../../core/conversation/model-path.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../../core/http/client-disconnect.ts";
import type { AccountState } from "../../../core/ports/account-states.ts";
import type { Context } from "../../../core/ports/context.ts";
import { DAY_MS } from "../../../core/units.ts";
import { findConfiguredAccount } from "../../../pool/configuration.ts";
import { AttemptTimeout } from "../../accounts/attempt-timeout.ts";
import { withAccount } from "../../accounts/with-account.ts";
import { selectAllowedTargets } from "../../generation/routes/route-targets.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import type { CacheRequest } from "../../providers/passthrough/passthrough.ts";
import { getProvider, type RegisteredProvider } from "../../providers/provider-registry.ts";
import { DIALECT_ID } from "./names.ts";

/** How long a cache is remembered whose provider states no end, in milliseconds. */
const DEFAULT_LIFETIME_MS = 30 * DAY_MS;

/** The longest that a cache is remembered. The storage of Workers takes no time after the year 2262. */
const MAX_LIFETIME_MS = 400 * DAY_MS;

/** The start of every name of a cache. */
const CACHE_PREFIX = "cachedContents/";

/** The context and the caller of a request for caches. */
export interface CacheCall {
  readonly context: Context;
  readonly caller: Caller;
}

/** The 404 for a cache that is not the caller's. */
export function cacheNotFoundError(name: string): GatewayError {
  return new GatewayError(404, `there is no cached content with the name ${JSON.stringify(name)}`, {
    code: "not_found",
    param: "name",
  });
}

function beginCall({ context: { facts }, caller }: CacheCall): void {
  facts.dialect = DIALECT_ID;
  facts.operation = "caches";
  assertDialectAllowed(caller.key?.entry, DIALECT_ID);
}

/** The models that may hold the cache, in order. */
async function findModels({ context, caller }: CacheCall, name: string): Promise<readonly ResolvedModel[]> {
  const labels = { dialect: DIALECT_ID, operation: "caches" } as const;
  const model = await readWithModelNames(context, name, resolveModel, labels);
  if (model.route !== undefined)
    return selectAllowedTargets(context, caller, model, model.route).map((target) => ({
      ...target.model,
      requested: name,
    }));
  context.facts.model = model.id;
  assertModelAllowed(caller, context.requestLimits, model);
  return [model];
}

/**
 * Caches a prompt at the first provider of the model that can do that, and records its account.
 *
 * @param createBody creates the body with the provider's path of the model
 * @throws GatewayError 400 for an unknown model, 501 if no provider of the model caches prompts, and the provider's errors
 */
export async function createCache(
  call: CacheCall,
  requested: string,
  createBody: (model: string) => string,
): Promise<JsonObject> {
  beginCall(call);
  const { context } = call;
  const { config } = await context.config();
  for (const model of await findModels(call, requested)) {
    const provider = getProvider(context.platform, config, model.provider);
    if (provider.api.caches === undefined) continue;
    context.facts.model = model.id;
    const request = { method: "POST", name: "", query: "", model, createBody } as const;
    const { answer, account } = await send(call, provider, request);
    const name = answer["name"];
    const state = { id: typeof name === "string" ? name : "", account, expiresAt: 0 };
    return showCache(call, state, { ...answer, model: `models/${requested}` });
  }
  throw new GatewayError(501, `no provider of the model ${JSON.stringify(requested)} caches prompts`, {
    code: "unsupported",
    param: "model",
  });
}

/**
 * Reads, changes or deletes a cache at the account that has it.
 *
 * @throws GatewayError 404 for a cache that is not the caller's, and the provider's errors
 */
export async function callStoredCache(
  call: CacheCall,
  name: string,
  request: Pick<CacheRequest, "method" | "query"> & { readonly body: string | null },
): Promise<JsonObject> {
  beginCall(call);
  const { context, caller } = call;
  const { config } = await context.config();
  const store = context.platform.accountStates(caller.owner, context.startedAt);
  const state = await store.get(name);
  const account = state === null ? null : await findConfiguredAccount(config, state.account);
  const isOwnToken = caller.mode === "own-token";
  if (altersUrlPath(name) || (account === null && !isOwnToken)) throw cacheNotFoundError(name);
  const provider = getProvider(context.platform, config, account?.provider || undefined);
  if (provider.api.caches === undefined) throw cacheNotFoundError(name);
  const pinned = state === null ? call : { ...call, caller: { ...caller, targetAccount: state.account } };
  const { method, query, body } = request;
  const sent = { method, name, query, model: null, createBody: () => body };
  const { answer } = await send(pinned, provider, sent);
  if (state === null) return answer;
  if (method !== "DELETE") {
    const { model } = JSON.parse(state.lastSeen ?? "{}");
    return showCache(call, state, { ...answer, ...(typeof model === "string" ? { model } : {}) });
  }
  await store.remove(name);
  return answer;
}

/** The caller's caches as they were seen last, the newest first. */
export async function listCaches(call: CacheCall): Promise<(JsonObject & { readonly id: string })[]> {
  beginCall(call);
  const states = await call.context.platform.accountStates(call.caller.owner, call.context.startedAt).list();
  return states
    .toReversed()
    .filter(({ id }) => id.startsWith(CACHE_PREFIX))
    .map(({ id, lastSeen }) => ({ ...JSON.parse(lastSeen ?? "{}"), id }));
}

/** Stores a cache as its caller sees it now. */
async function showCache(
  { context, caller }: CacheCall,
  state: AccountState,
  shown: JsonObject,
): Promise<JsonObject> {
  if (state.id === "") throw invalidRequest("the provider's answer lacks the name of the cached content");
  const stated = Date.parse(String(shown["expireTime"]));
  const now = context.platform.now();
  const expiresAt = Number.isNaN(stated)
    ? now + DEFAULT_LIFETIME_MS
    : Math.min(stated, now + MAX_LIFETIME_MS);
  const lastSeen = JSON.stringify(shown);
  // A caller's own token needs no record: it has one account.
  if (caller.mode !== "own-token")
    await context.platform
      .accountStates(caller.owner, context.startedAt)
      .put({ ...state, lastSeen, expiresAt });
  return shown;
}

async function send(
  { context, caller }: CacheCall,
  provider: RegisteredProvider,
  request: CacheRequest,
): Promise<{ readonly answer: JsonObject; readonly account: string }> {
  const { caches } = provider.api;
  if (caches === undefined) throw cacheNotFoundError(request.name);
  const { abort, stop } = abortOnDisconnect(context);
  const timeout = new AttemptTimeout(provider.timeouts.answerTimeoutMs, abort.signal);
  if (provider.id !== "") context.facts.provider = provider.id;
  try {
    return await withAccount(
      {
        context,
        caller,
        provider,
        model: request.model?.id ?? "",
        dialect: DIALECT_ID,
        abort,
        ...(["GET", "DELETE"].includes(request.method) && { costsNothing: true }),
      },
      async (session) => {
        timeout.restart();
        const answer = await session.runWithToken((account) => caches.send(account, request, timeout.signal));
        return { answer, account: session.accountId };
      },
    );
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    timeout.stop();
    stop();
  }
}
