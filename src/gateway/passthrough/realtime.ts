import { assertDialectAllowed, assertModelAllowed, hasModelList } from "../../core/auth/access-rules.ts";
import { getKnownKeys } from "../../core/auth/caller-keys.ts";
import { type Caller, createManagedCaller } from "../../core/auth/callers.ts";
import { toProviderId } from "../../core/config/provider-id.ts";
import type { Config } from "../../core/config/schema.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { toCallerError } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect, explainAbort } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import { CONNECTION_BYTES } from "../../core/ports/web-socket.ts";
import { RetryBudget } from "../../core/retries/retry-budget.ts";
import { findConfiguredAccount } from "../../pool/configuration.ts";
import { describeSubject } from "../../pool/limits/limit-error.ts";
import { countsUsage, listLimitedSubjects } from "../../pool/limits/limited-use.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import { configuredSecrets } from "../captures/capture-masking.ts";
import { selectRequestHeaders } from "../dialects/shared/native-request.ts";
import { OPENAI_REQUEST_HEADERS } from "../dialects/shared/openai-headers.ts";
import { readRequestControls } from "../generation/preparation/request-controls.ts";
import { classifyFailure } from "../generation/routes/route-runner.ts";
import { Recording } from "../history/recording.ts";
import type { Passthrough } from "../providers/passthrough/passthrough.ts";
import { missingEndpointError } from "../providers/passthrough/passthrough-error.ts";
import { getProvider, type RegisteredProvider } from "../providers/provider-registry.ts";
import { describeCall } from "./describe-call.ts";
import { RealtimeConnection } from "./realtime-connection.ts";
import { ProviderEvents } from "./realtime-events.ts";
import { PASSTHROUGH_STYLE, recordTarget, resolveTargets, type Target } from "./targets.ts";

const PATH = "/realtime";
const PROTOCOL = "realtime";
/** The HTTP status of an accepted WebSocket. */
const SWITCHING_PROTOCOLS = 101;

/** The request of a realtime connection. */
interface RealtimeCall {
  readonly endpoint: { readonly operation: "realtime" };
  readonly model: string;
  readonly stream: true;
  readonly description: string;
}

/** Reads the request's query. Azure's clients name the model in `deployment`. */
function readCall({ url: { searchParams } }: Context): RealtimeCall {
  if (searchParams.has("call_id")) {
    throw invalidRequest("call_id: calls are not known here", "call_id");
  }
  const model = searchParams.get("model") ?? searchParams.get("deployment") ?? "";
  const intent = searchParams.get("intent");
  if (model.trim() === "" && intent === null)
    throw invalidRequest("model: the name of a model is required", "model");
  const description = JSON.stringify({ model, ...(intent === null ? {} : { intent }) });
  return { endpoint: { operation: "realtime" }, model, stream: true, description };
}

/** The subprotocol that the answer names: never the one with the key. */
function selectProtocol({ headers }: Request): string | undefined {
  const offered = headers
    .get("sec-websocket-protocol")
    ?.split(",")
    .map((name) => name.trim());
  return offered?.includes(PROTOCOL) === true ? PROTOCOL : undefined;
}

/**
 * Rejects connections that count towards limits of tokens or cost: what a connection uses is known at its end only.
 *
 * @throws GatewayError 403
 */
function assertNoUseLimits(
  { requestLimits }: Context,
  config: Config,
  { key }: Caller,
  targets: readonly Target[],
): void {
  if (key === null) return;
  for (const target of targets) {
    const subjects = listLimitedSubjects(key, requestLimits, config, toProviderId(target?.provider));
    const limited = subjects.find(({ limits }) => countsUsage(limits));
    if (limited === undefined) continue;
    const message = `${describeSubject(limited.key)} has limits of tokens or cost, which do not hold on an open connection`;
    throw new GatewayError(403, message, { code: "permission_denied" });
  }
}

/**
 * Rejects a caller whose key was deleted or disabled, has expired, got a budget or may no longer use the model since the
 * connection was opened.
 *
 * @throws GatewayError 401 and 403
 */
async function assertCallerStillAllowed(
  context: Context,
  config: Config,
  caller: Caller,
  target: Target,
): Promise<void> {
  if (caller.key === null) return;
  const known = (await getKnownKeys(config)).get(await sha256Hex(caller.credential));
  if (known === undefined)
    throw new GatewayError(401, "this API key is no longer known", { code: "invalid_api_key" });
  const current = createManagedCaller(known, context.platform.now(), null);
  assertDialectAllowed(current.key?.entry, PASSTHROUGH_STYLE);
  assertModelAllowed(current, context.requestLimits, target ?? { requested: "", id: "" });
  assertNoUseLimits(context, config, current, [target]);
}

/**
 * Rejects an account that was deleted or disabled, alone or with its provider, since the connection was opened.
 *
 * @throws GatewayError 503
 */
async function assertAccountStillEnabled(config: Config, provider: string, accountId: string): Promise<void> {
  const isEnabled = provider === "" || config.providers.some(({ id, enabled }) => id === provider && enabled);
  // A caller's own token is no account.
  const account =
    accountId === "" ? { provider, disabled: false } : await findConfiguredAccount(config, accountId);
  if (isEnabled && account !== null && !account.disabled && (account.provider ?? "") === provider) return;
  throw new GatewayError(503, "the account was deleted or disabled", { code: "account_pool_unavailable" });
}

/** A WebSocket from its request to its end. */
class RealtimeRun {
  readonly rawReasoning = "";
  readonly response = Promise.withResolvers<Response>();
  hasBegun = false;
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #call: RealtimeCall;
  readonly #abort: AbortController;
  readonly #recording: Recording;
  readonly #retries: RetryBudget;
  readonly #onAccepted: () => void;
  #events: ProviderEvents | null = null;

  constructor(
    context: Context,
    caller: Caller,
    call: RealtimeCall,
    abort: AbortController,
    recording: Recording,
    retries: RetryBudget,
    onAccepted: () => void,
  ) {
    this.#context = context;
    this.#caller = caller;
    this.#call = call;
    this.#abort = abort;
    this.#recording = recording;
    this.#retries = retries;
    this.#onAccepted = onAccepted;
  }

  get rawText(): string {
    return this.#events?.transcript ?? "";
  }

  /** Tries the targets in order until one accepts, and serves the connection to its end. */
  async run(targets: readonly Target[]): Promise<void> {
    for (const [index, target] of targets.entries()) {
      const isLast = index === targets.length - 1;
      recordTarget(this.#context, target, targets.length === 1);
      this.#recording.setConversation(describeCall(this.#call, target));
      try {
        await this.#use(target, isLast);
        return;
      } catch (thrown) {
        const error = toCallerError(thrown, this.#context.requestId);
        const canContinue = !this.hasBegun && !this.#abort.signal.aborted && canTryNext(error);
        if (isLast || !canContinue || !this.#retries.take("model", thrown)) throw error;
      }
    }
  }

  /** Records the end. `error`: why the connection failed; null: it did not. */
  finish(error: GatewayError | null): void {
    const { facts } = this.#context;
    if (error !== null) {
      facts.error = error.code;
      facts.errorStatus = error.status;
      this.response.reject(error);
    }
    this.#recording.end({
      status: error === null ? "success" : error.status === 499 ? "cancelled" : "error",
      statusCode: error?.status ?? SWITCHING_PROTOCOLS,
      error: error?.message ?? "",
      code: error?.code ?? "",
      finishReason: "",
      usage: this.hasBegun ? (this.#events?.usage ?? null) : null,
    });
  }

  async #use(target: Target, waits: boolean): Promise<void> {
    const context = this.#context;
    const { config } = await context.config();
    const provider = getProvider(context.platform, config, target?.provider);
    const { passthrough } = provider.api;
    if (passthrough === undefined) throw missingEndpointError(PATH, provider.id);
    await withAccount(
      {
        context,
        caller: this.#caller,
        provider,
        retries: this.#retries,
        model: target?.id ?? "",
        dialect: PASSTHROUGH_STYLE,
        abort: this.#abort,
        ...(waits ? {} : { waitMs: 0 }),
        canRetry: () => !this.hasBegun,
        onAccountFailed: (account, failure) =>
          this.#recording.recordAccountFailure(account, failure, target ?? undefined),
      },
      (session) => this.#connect(session, passthrough, provider, target),
    );
  }

  async #connect(
    session: AccountSession,
    passthrough: Passthrough,
    provider: RegisteredProvider,
    target: Target,
  ): Promise<void> {
    const { request, url, platform, memory, facts, requestLimits } = this.#context;
    this.#recording.recordAccount(session.accountId);
    const timeout = new AttemptTimeout(provider.timeouts.firstByteTimeoutMs, this.#abort.signal);
    const intent = url.searchParams.get("intent");
    const query = new URLSearchParams(intent === null ? {} : { intent });
    const headers = selectRequestHeaders(request, { requestHeaders: OPENAI_REQUEST_HEADERS });
    timeout.restart();
    const opened = await session
      .runWithToken((account) =>
        passthrough.openSocket(account, { path: PATH, model: target, headers }, query, timeout.signal),
      )
      .finally(() => timeout.stop());
    const secrets = [session.account.token, ...configuredSecrets(provider.headers)];
    const events = new ProviderEvents(facts, secrets, memory);
    this.#events = events;
    let connection: RealtimeConnection | undefined;
    const options = { isKnown: memory.isKnown, protocol: selectProtocol(request) };
    const listen: Parameters<typeof platform.upgradeToWebSocket>[1] = (client) => {
      connection = new RealtimeConnection(client, {
        memory,
        signal: this.#abort.signal,
        closing: platform.closing,
        events,
        model: opened.model,
        isLimited: hasModelList(this.#caller, requestLimits),
        onProviderMessage: () => {
          session.reportAnswering();
          this.#recording.refreshIfDue(platform.now());
        },
        assertStillAllowed: async () => {
          // Not the context's configuration, which is that of the handshake. If it cannot be read, the connection continues.
          const read = await platform.configuration.read().catch(() => null);
          if (read === null) return;
          await assertCallerStillAllowed(this.#context, read.config, this.#caller, target);
          // Administrators may use disabled accounts, in order to test them.
          if (this.#caller.owner !== "")
            await assertAccountStillEnabled(read.config, provider.id, session.accountId);
        },
      });
      return connection.clientListener;
    };
    this.#onAccepted();
    this.hasBegun = true;
    try {
      this.response.resolve(platform.upgradeToWebSocket(request, listen, options));
    } finally {
      // Also if the caller's handshake failed: the provider's side is closed then.
      connection?.connect(opened.socket);
    }
    await connection?.ended;
  }
}

function canTryNext(error: GatewayError): boolean {
  return error.status === 501 || classifyFailure(error) !== null;
}

/**
 * Opens a realtime connection at the provider of its model, and only then accepts the caller's WebSocket. The account is
 * held until the connection ends.
 *
 * @throws GatewayError before the caller's WebSocket is accepted: 403 for what the key must not use, 501 if the provider has
 *   no realtime connections, 503 without memory, and the errors of the provider
 */
export async function openRealtime(context: Context, caller: Caller): Promise<Response> {
  const { facts, memory } = context;
  const call = readCall(context);
  facts.dialect = PASSTHROUGH_STYLE;
  facts.operation = "realtime";
  facts.stream = true;
  assertDialectAllowed(caller.key?.entry, PASSTHROUGH_STYLE);
  const controls = await readRequestControls(context.request.headers);
  const targets = await resolveTargets(context, caller, call, controls);
  if (call.model !== "") facts.requestedModel = call.model;
  assertNoUseLimits(context, (await context.config()).config, caller, targets);
  memory.reserveNow(CONNECTION_BYTES);
  const { abort, stop } = abortOnDisconnect(context);
  const retries = new RetryBudget(() => context.platform.now(), controls.maxRetries);
  const deadline = controls.startDeadline?.(abort);
  const recording = new Recording(context, describeCall(call, targets[0] ?? null), retries);
  // The runtime reports an accepted connection as the end of its request.
  const run = new RealtimeRun(context, caller, call, abort, recording, retries, () => {
    deadline?.end();
    stop();
  });
  recording.start("", run);
  const serve = async () => {
    try {
      await run.run(targets);
      run.finish(null);
    } catch (thrown) {
      run.finish(toCallerError(explainAbort(abort, thrown), context.requestId));
    } finally {
      deadline?.end();
      stop();
    }
  };
  const running = serve();
  context.waitUntil(running);
  const response = await run.response.promise;
  // `handleRequest` records the outcome when `running` has settled.
  context.keepUntil(running);
  return response;
}
