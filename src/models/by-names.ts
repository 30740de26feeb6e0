import { GatewayError } from "../errors/gateway-error.ts";
import type { Context, LogFields } from "../platform/context.ts";
import type { Naming } from "./naming.ts";

/** The model under which usage counts requests for unknown models. Callers invent names without end. */
const UNKNOWN = "unknown";

/** How usage counts a request: its API style, and what it is for. */
export type UsageLabels = Required<Pick<LogFields, "dialect" | "operation">>;

/**
 * Reads what a request asks for, by what models are called; of a name that a copy of the configuration does not know
 * the newest one is asked. The body is handed over, because what a handler's function holds lives as long as its answer.
 *
 * @param usage how usage counts a request for an unknown model; absent: usage does not count such requests
 * @throws GatewayError whatever `read` throws.
 */
export async function byNames<Body, Read>(
  context: Context,
  body: Body,
  read: (body: Body, naming: Naming) => Read,
  usage?: UsageLabels,
): Promise<Read> {
  try {
    return await readByNames(context, body, read);
  } catch (thrown) {
    if (usage !== undefined && isUnknownModel(thrown)) {
      Object.assign(context.log, usage, { model: UNKNOWN, requestedModel: UNKNOWN });
    }
    throw thrown;
  }
}

function isUnknownModel(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === "model_not_found";
}

async function readByNames<Body, Read>(
  context: Context,
  body: Body,
  read: (body: Body, naming: Naming) => Read,
): Promise<Read> {
  const { config } = await context.config();
  try {
    return read(body, config);
  } catch (thrown) {
    if (!isUnknownModel(thrown) || !(await context.confirmConfig())) throw thrown;
  }
  const { config: newest } = await context.config();
  return read(body, newest);
}
