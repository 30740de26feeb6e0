import { GatewayError } from "../errors/gateway-error.ts";
import type { Context } from "../platform/context.ts";
import type { Naming } from "./naming.ts";

/**
 * Reads what a request asks for, by what models are called; of a name that a copy of the configuration does not know
 * the newest one is asked. The body is handed over, because what a handler's function holds lives as long as its answer.
 *
 * @throws GatewayError whatever `read` throws.
 */
export async function byNames<Body, Read>(
  context: Context,
  body: Body,
  read: (body: Body, naming: Naming) => Read,
): Promise<Read> {
  const { config } = await context.config();
  try {
    return read(body, config);
  } catch (thrown) {
    const isUnknown = thrown instanceof GatewayError && thrown.code === "model_not_found";
    if (!isUnknown || !(await context.confirmConfig())) throw thrown;
  }
  const { config: newest } = await context.config();
  return read(body, newest);
}
