import { isUsableName } from "../../../core/config/provider-models.ts";
import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../../core/errors/provider-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { OfferedModel } from "../../../gateway/providers/provider.ts";
import { createApiAt, type RegisteredProvider } from "../../../gateway/providers/provider-registry.ts";
import type { UpstreamAccount } from "../../../gateway/providers/upstream-account.ts";
import { callProvider } from "../accounts/account-call.ts";

/** Endings that addresses of engines commonly have. */
const ENDINGS = ["/v1", "/api", "/v1beta"] as const;
/** The path of an endpoint, or an ending, that the path of an address has too much. */
const SURPLUS =
  /(?:\/v1(?:beta)?)?\/(?:chat\/completions|completions|responses|messages|models)$|\/(?:v1|v1beta|api)$/;

/**
 * Guesses the correct address where an address has no list of models: other addresses, the most likely first. All have the
 * same host, because the account's token is sent to them. In `http://api`, `api` is the host and not an ending to remove.
 */
export function guessBaseAddresses(baseUrl: string): string[] {
  const address = withoutTrailingSlashes(baseUrl);
  const pathStart = address.indexOf("/", address.indexOf("://") + 3);
  const bare =
    pathStart < 0 ? address : address.slice(0, pathStart) + address.slice(pathStart).replace(SURPLUS, "");
  const guesses = new Set([...ENDINGS.map((ending) => bare + ending), bare, `${address}/v1`]);
  guesses.delete(address);
  return [...guesses];
}

/** Whether an error can mean that the provider's address is wrong: there is nothing, or something else. */
function suggestsWrongAddress(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError)) return false;
  return error.kind === "malformed" || error.status === 404 || error.status === 405;
}

/** Says in the error which address has the list of models, if one does. */
async function explainMissingList(
  context: Context,
  provider: RegisteredProvider,
  error: ProviderError,
  account: UpstreamAccount,
  signal: AbortSignal,
): Promise<ProviderError> {
  const { config } = await context.config();
  const field = provider.id === "" ? "PROVIDER_BASE_URL" : "base_url";
  const address = withoutTrailingSlashes(provider.baseUrl);
  const status = error.status === 0 ? "" : ` (status ${error.status})`;
  const explain = (advice: string) =>
    new ProviderError("not_found", `${address} has no list of models${status}${advice}`, {
      status: error.status,
      cause: error,
    });
  for (const guess of guessBaseAddresses(address)) {
    const { models } = createApiAt(context.platform, config, provider.id, guess);
    const offered = await models?.list(account, signal).catch(() => []);
    signal.throwIfAborted();
    if (offered !== undefined && offered.length > 0)
      return explain(`, but ${guess} has: ${field} should probably be ${guess}`);
  }
  return explain(`, also not with ${ENDINGS.join(", ")} at its end: check ${field} and the driver`);
}

/**
 * Lists the models that a provider offers, with names in the provider's spelling.
 *
 * @throws GatewayError 501 if its protocol has no model list. The error of a missing list says which address has one.
 */
export async function listOfferedModels(
  context: Context,
  provider: RegisteredProvider,
): Promise<readonly OfferedModel[]> {
  const { models } = provider.api;
  if (models === undefined) {
    throw new GatewayError(501, `the driver ${provider.driver} has no list of models`, {
      code: "unsupported",
    });
  }
  try {
    const offered = await callProvider(context, provider, null, "", (account, signal) =>
      models.list(account, signal).catch(async (error: unknown) => {
        signal.throwIfAborted();
        if (!suggestsWrongAddress(error)) throw error;
        throw await explainMissingList(context, provider, error, account, signal);
      }),
    );
    return offered.filter(({ name }) => isUsableName(name));
  } catch (error) {
    const failure = error instanceof ProviderError ? providerErrorToGateway(error) : error;
    if (!(failure instanceof GatewayError) || failure.status !== 401) throw failure;
    // A 401 of the admin API would mean that the administrator is not signed in.
    throw new GatewayError(502, failure.message, { code: failure.code, cause: error });
  }
}
