import { ProviderError } from "../../../core/errors/provider-error.ts";

/** The stage at which a request through a proxy failed. */
export type ProxyStage =
  /** The proxy cannot be reached, or does not speak its protocol. */
  | "proxy"
  /** The proxy refused the credentials, or requires credentials. */
  | "credentials"
  /** The proxy could not connect, or refused to connect, to the target. */
  | "target"
  /** The target's certificate was not accepted, or its port does not speak TLS. */
  | "tls"
  /** The target closed the connection, or did not answer in HTTP. */
  | "answer";

/**
 * A failed request through a proxy. Callers may see the message: it contains neither the proxy's name nor its
 * credentials.
 */
export class ProxyFailure extends ProviderError {
  readonly stage: ProxyStage;

  constructor(stage: ProxyStage, message: string, cause?: unknown) {
    super("unreachable", message, { cause });
    this.stage = stage;
  }
}
