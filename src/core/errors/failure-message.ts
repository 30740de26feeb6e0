import { GatewayError } from "./gateway-error.ts";
import { ProviderError } from "./provider-error.ts";

/** The message about a failure for administrators. It contains nothing internal. */
export function describeFailure(error: unknown): string {
  // Callers get few details of an account's problems. Administrators also get the kind.
  if (error instanceof ProviderError) return `${error.message} (${error.kind})`;
  if (error instanceof GatewayError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "the provider took too long";
  return "the call failed inside the gateway";
}
