import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";

/** What a check of the gateway's operator has denied. Not the provider's fault, and not repeated elsewhere. */
export class Denial extends GatewayError {}

const labelOf = ({ id, name }: Guardrail): string => JSON.stringify(name || id);

/** The error for text that a rule denies. It does not quote the text. */
export function createDenial(rule: Guardrail): Denial {
  return new Denial(400, `the content is not allowed (guardrail ${labelOf(rule)})`, {
    code: "content_filter",
  });
}

/** The error for a rule that cannot be checked. */
export function createCheckFailure(rule: Guardrail, cause?: unknown): Denial {
  return new Denial(503, `the guardrail ${labelOf(rule)} could not be checked`, {
    code: "upstream_unavailable",
    cause,
  });
}

/** The error for a request with more text than is checked. */
export function createSizeDenial(maxCharacters: number): Denial {
  return new Denial(
    400,
    `the texts of this request have more than ${maxCharacters} characters, which is the most that the guardrails check`,
    { code: "request_too_large" },
  );
}
