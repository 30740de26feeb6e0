import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { UNKNOWN_MODEL } from "../../core/ports/usage.ts";
import type { ModelNameConfig } from "./configured-models.ts";
import { ModelNotFoundError } from "./model-not-found.ts";

/** Labels under which usage counts a request: its API style and its operation. */
export type UsageLabels = Required<Pick<RequestFacts, "dialect" | "operation">>;

/**
 * Calls `read` with the model names of the configuration. If `read` fails with an unknown model, calls it again with the
 * newest configuration, if there is a newer one. `body` is a parameter because a variable that `read` captures would live
 * until the answer ends.
 *
 * @param usage labels under which usage counts a request for an unknown model; absent: usage does not count such requests
 * @throws GatewayError all errors of `read`.
 */
export async function readWithModelNames<Body, Read>(
  context: Context,
  body: Body,
  read: (body: Body, nameConfig: ModelNameConfig) => Read,
  usage?: UsageLabels,
): Promise<Read> {
  try {
    return await readWithNewestConfig(context, body, read);
  } catch (thrown) {
    if (usage !== undefined && isUnknownModel(thrown)) {
      const model = await nameUnknownModel(context, thrown);
      Object.assign(context.facts, usage, { model, requestedModel: model });
      hideUnknownProvider(context, thrown);
    }
    throw thrown;
  }
}

/** The name under which usage counts a request for an unknown model. */
async function nameUnknownModel({ config }: Context, error: unknown): Promise<string> {
  if (!(error instanceof ModelNotFoundError)) return UNKNOWN_MODEL;
  const { findConfiguredName } = await import("./explain-unknown-model.ts");
  return findConfiguredName(error.requested, (await config()).config) ?? UNKNOWN_MODEL;
}

/**
 * Throws the 403 of a forbidden model for an unknown `provider/model` that the caller's key does not allow. A key for some
 * models would otherwise learn which providers exist.
 */
export function hideUnknownProvider({ refusedRequest }: Context, error: unknown): void {
  if (!(error instanceof ModelNotFoundError) || !error.requested.includes("/")) return;
  const { requested } = error;
  refusedRequest.assertModelAllowed?.({ requested, id: requested });
}

function isUnknownModel(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.code === "model_not_found";
}

async function readWithNewestConfig<Body, Read>(
  context: Context,
  body: Body,
  read: (body: Body, nameConfig: ModelNameConfig) => Read,
): Promise<Read> {
  const { config } = await context.config();
  try {
    return read(body, config);
  } catch (thrown) {
    if (!isUnknownModel(thrown) || !(await context.lookUpConfig(thrown.message))) throw thrown;
  }
  const { config: newest } = await context.config();
  return read(body, newest);
}
