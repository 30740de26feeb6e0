import { ProviderError } from "../../../core/errors/provider-error.ts";

/** How the runtimes word failures of connections, and what it means. The first match counts. */
const REASONS: readonly (readonly [words: RegExp, reason: string])[] = [
  [/ENOTFOUND|EAI_AGAIN|dns|lookup address|not known|no address/i, "the name of its host does not resolve"],
  [
    /certificate|\btls\b|\bssl\b|handshake|UnknownIssuer/i,
    "the TLS connection failed, often for its certificate",
  ],
  [/refused/i, "nothing listens at its address"],
  [/ETIMEDOUT|timed out|timeout/i, "the connection was not made in time"],
  [/unreachable|no route/i, "its network cannot be reached"],
  // workerd says this of refused connections too.
  [/network connection lost/i, "it does not run, or the connection broke"],
  [/reset|broken pipe|closed|lost/i, "the connection broke"],
];

/** How deep causes are read. */
const MAX_CAUSES = 4;

/** The texts of an error and its causes. The texts name addresses, so they are never shown. */
function collectTexts(error: unknown): string {
  const texts: string[] = [];
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    texts.push(current.message, "code" in current ? String(current.code) : "");
    current = current.cause;
  }
  return texts.join(" ");
}

/** The error of a provider to which no connection could be made, with the reason if the runtime states one. */
export function createConnectionError(error: unknown): ProviderError {
  const texts = collectTexts(error);
  const reason = REASONS.find(([words]) => words.test(texts))?.[1];
  const message = "the provider cannot be reached";
  return new ProviderError("unreachable", reason === undefined ? message : `${message}: ${reason}`, {
    cause: error,
  });
}
