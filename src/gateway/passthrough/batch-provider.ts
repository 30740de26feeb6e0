import type { Caller } from "../../core/auth/callers.ts";
import type { JsonObject } from "../../core/encoding/json.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import type { BatchRecord } from "../../core/ports/batches.ts";
import type { Context } from "../../core/ports/context.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import { selectRequestHeaders } from "../dialects/shared/native-request.ts";
import { OPENAI_REQUEST_HEADERS } from "../dialects/shared/openai-headers.ts";
import { missingEndpointError } from "../providers/passthrough/passthrough-error.ts";
import { getProvider } from "../providers/provider-registry.ts";
import { readRecord } from "../providers/transport.ts";
import { PASSTHROUGH_STYLE } from "./targets.ts";

/** The context and the caller of a request for batches. */
export interface BatchRequest {
  readonly context: Context;
  readonly caller: Caller;
}

/** A call of a provider's endpoints for batches. */
interface BatchCall {
  /** The path below the provider's base URL. */
  readonly path: string;
  /** The JSON text of the body; null: the call reads. */
  readonly body: string | null;
  /** The path names a batch that exists. To read or cancel it costs nothing. */
  readonly isStoredObject?: true;
}

/** Calls the provider with the account that has a batch or its input file, and returns the answer. */
export async function callBatches(
  { context, caller }: BatchRequest,
  { provider: id, account }: Pick<BatchRecord, "provider" | "account">,
  { path, body, ...call }: BatchCall,
): Promise<JsonObject> {
  const { abort, stop } = abortOnDisconnect(context);
  const { config } = await context.config();
  if (id !== undefined && !config.providers.some((entry) => entry.id === id)) {
    throw new GatewayError(404, "the provider of the batch is no longer configured", { code: "not_found" });
  }
  const provider = getProvider(context.platform, config, id);
  const { passthrough } = provider.api;
  if (passthrough === undefined) throw missingEndpointError("/batches", provider.id);
  if (provider.id !== "") context.facts.provider = provider.id;
  const owner = { ...caller, targetAccount: account === "" ? null : account };
  const timeout = new AttemptTimeout(provider.timeouts.firstByteTimeoutMs, abort.signal);
  const request = {
    ...call,
    path,
    model: null,
    headers: {
      ...selectRequestHeaders(context.request, { requestHeaders: OPENAI_REQUEST_HEADERS }),
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    createBody: () => body,
  };
  try {
    return await withAccount(
      {
        context,
        caller: owner,
        provider,
        model: "",
        dialect: PASSTHROUGH_STYLE,
        abort,
        ...(call.isStoredObject && { costsNothing: true }),
      },
      (session) => {
        timeout.restart();
        return session.runWithToken(async (upstream) => {
          const { signal } = timeout;
          const sent = body === null ? { ...request, method: "GET" as const } : request;
          return readRecord(await passthrough.send(upstream, sent, signal), signal);
        });
      },
    );
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    timeout.stop();
    stop();
  }
}
