import { listSubjectEntries } from "../../core/auth/access-rules.ts";
import type { Caller } from "../../core/auth/callers.ts";
import { selectGuardrails } from "../../core/config/select-guardrails.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";

/**
 * Rejects requests to an endpoint whose texts are not checked, for callers whose texts are checked elsewhere.
 *
 * @throws GatewayError 403, unless the configuration allows such endpoints
 */
export async function assertNoGuardrails(
  { config: read, requestLimits }: Context,
  caller: Caller,
): Promise<void> {
  const { config } = await read();
  if (config.guardrails.unchecked_endpoints === "allow") return;
  if (selectGuardrails(config, () => listSubjectEntries(caller, requestLimits)).length === 0) return;
  throw new GatewayError(
    403,
    "this endpoint is not available: its texts are not checked by the guardrails (guardrails.unchecked_endpoints)",
    {
      code: "permission_denied",
    },
  );
}
