import { GatewayError } from "./gateway-error.ts";
import { ProviderError } from "./provider-error.ts";

/** What an administrator is told of a failure; nothing internal. */
export function failureMessage(error: unknown): string {
  // Callers are told little of an account's troubles; administrators learn the kind.
  if (error instanceof ProviderError) return `${error.message} (${error.kind})`;
  if (error instanceof GatewayError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "the provider took too long";
  return "the call failed inside the gateway";
}
