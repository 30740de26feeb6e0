import { GatewayError } from "./gateway-error.ts";
import { ProviderError } from "./provider-error.ts";

/** Marks a provider's own words in an error message. */
export const QUOTE = "the provider says: ";

/** Adds the provider's own words, which callers do not get, to a message for administrators. */
export const withUpstreamWords = (message: string, words: string): string =>
  words === "" ? message : `${message}; ${QUOTE}${words}`;

/** Whether the message of a failure has the provider's own words, which may quote the conversation. */
export const hasProviderWords = ({ message, isVerbatim }: ProviderError): boolean =>
  isVerbatim || message.includes(QUOTE);

/** A message about a failure without the provider's own words. */
export const describeFailedStatus = (status: number): string =>
  status === 0 ? "the provider failed" : `the provider failed (status ${status})`;

/** The message of a failure without the provider's own words. */
export const omitProviderWords = (error: ProviderError): string =>
  hasProviderWords(error) ? describeFailedStatus(error.status) : error.message;

/** The message about a failure for administrators. It contains nothing internal. */
export function describeForAdministrator(error: unknown): string {
  // Callers get few details of an account's problems. Administrators also get the kind.
  if (error instanceof ProviderError)
    return `${withUpstreamWords(error.message, error.upstreamWords)} (${error.kind})`;
  if (error instanceof GatewayError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "the provider took too long";
  return "the call failed inside the gateway";
}

/**
 * Describes a failure for the log. Messages of parsers quote their input, and a provider's messages may quote the
 * conversation. For these errors, only the kind is logged.
 */
export function describeForLog(thrown: unknown): string {
  if (thrown instanceof ProviderError) return `ProviderError: ${thrown.kind} ${thrown.status}`;
  if (thrown instanceof SyntaxError) return thrown.name;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.slice(0, 500) : "not an error";
}
