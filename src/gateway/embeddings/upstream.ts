import { hasUpstreamName, type ResolvedModel } from "../../core/conversation/model.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect, explainAbort } from "../../core/http/client-disconnect.ts";
import { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { ExpectedTokens } from "../../pool/limits/limited-use.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import type { RequestControls } from "../generation/preparation/parse-request-controls.ts";
import type { EmbeddingsApi } from "../providers/provider.ts";
import { getProvider } from "../providers/provider-registry.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import type { EmbeddingRequest, Vectors } from "./embedding-request.ts";

/** The value of `embeddings.provider` that selects the provider's own embeddings. */
const UPSTREAM_PROVIDER = "upstream";

/**
 * Values of `embeddings.provider` that select the local, deterministic implementation
 * (docs/contract/other-endpoints.md).
 */
const LOCAL_PROVIDERS: ReadonlySet<string> = new Set(["mock", "deterministic", "builtin"]);

/** Where `embeddings.provider` lets a model be embedded. Null: the setting is empty or unknown. */
export function selectEmbedder(setting: string, model: ResolvedModel): "local" | "upstream" | null {
  if (setting === UPSTREAM_PROVIDER) return "upstream";
  if (!LOCAL_PROVIDERS.has(setting)) return null;
  // A provider's own model was chosen on purpose; other names stand for local vectors.
  return hasUpstreamName(model) ? "upstream" : "local";
}

/**
 * Returns the inputs as texts.
 *
 * @throws GatewayError 400 for tokens, because they belong to another tokenizer.
 */
function requireTexts({ inputs, field }: EmbeddingRequest): string[] {
  return inputs.map((input) => {
    if (typeof input === "string") return input;
    throw invalidRequest(`${field}: the provider embeds texts, not tokens`, field);
  });
}

/** A request to a provider. */
interface ProviderCall {
  /** Whether caller and provider speak the same protocol: the provider gets the caller's body, the caller its answer. */
  readonly isSameProtocol: boolean;
  readonly embed: (account: UpstreamAccount, signal: AbortSignal) => ReturnType<EmbeddingsApi["embed"]>;
}

/**
 * Creates the call of a provider: with the caller's body where the protocol is the same, else with the inputs alone.
 *
 * @throws GatewayError 400 for inputs that a provider of another protocol would not get
 */
function createCall(embeddings: EmbeddingsApi, request: EmbeddingRequest, model: string): ProviderCall {
  const { dimensions, stated, inputs } = request;
  const size = dimensions === null ? {} : { dimensions };
  if (embeddings.protocol === "embeddings") {
    const callerBody = stated?.protocol === "embeddings" ? stated.body : null;
    if (callerBody === null) request.assertPlainInputs?.();
    const body = callerBody ?? { ...size, input: inputs, encoding_format: "float" };
    return {
      isSameProtocol: callerBody !== null,
      embed: (account, signal) => embeddings.embed(account, { ...body, model }, signal),
    };
  }
  const callerBody = stated?.protocol === "content-generation" ? stated : null;
  if (callerBody === null) request.assertPlainInputs?.();
  const query = callerBody ?? { ...size, input: requireTexts(request) };
  return {
    isSameProtocol: callerBody !== null,
    embed: (account, signal) => embeddings.embed(account, { ...query, model }, signal),
  };
}

/**
 * Embeds inputs at the provider, with one of its accounts.
 *
 * @throws GatewayError 501 if its protocol has no embeddings, 400 for inputs that it does not support, and the errors of
 * the provider.
 */
export async function embedUpstream(
  request: EmbeddingRequest,
  expected: () => ExpectedTokens,
  controls: RequestControls,
): Promise<Vectors> {
  const { context, caller, model, style } = request;
  const { config } = await context.config();
  const provider = getProvider(context.platform, config, model.provider);
  const { embeddings } = provider.api;
  if (embeddings === undefined) {
    const which = provider.id === "" ? "this provider" : `the provider ${JSON.stringify(provider.id)}`;
    const advice = provider.id === "" ? ": set embeddings.provider to builtin" : "";
    throw new GatewayError(501, `${which} has no embeddings${advice}`, { code: "embeddings_not_configured" });
  }
  // Use the requested name: backends have embedding models that no canonical id covers.
  const name = hasUpstreamName(model) ? model.upstream : model.requested;
  const { embed, isSameProtocol } = createCall(embeddings, request, name);
  context.facts.model = model.provider === undefined ? name : model.id;
  if (provider.id !== "") context.facts.provider = provider.id;
  const { abort, stop } = abortOnDisconnect(context);
  const deadline = controls.startDeadline?.(abort);
  try {
    const { answer, ...vectors } = await withAccount(
      {
        context,
        caller,
        provider,
        retries: new RetryBudget(() => context.platform.now(), controls.maxRetries),
        model: model.id,
        dialect: style,
        abort,
        estimateUsage: expected,
        canRetry: () => true,
      },
      (session) =>
        session.runWithToken(async (account) => {
          const attemptTimeout = new AttemptTimeout(provider.timeouts.firstByteTimeoutMs, abort.signal);
          attemptTimeout.restart();
          try {
            return await embed(account, attemptTimeout.signal);
          } finally {
            attemptTimeout.stop();
          }
        }),
    );
    return { ...vectors, answer: isSameProtocol ? answer : null };
  } catch (thrown) {
    const error = explainAbort(abort, thrown);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    deadline?.end();
    stop();
  }
}
