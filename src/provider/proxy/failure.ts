import { ProviderError } from "../../errors/provider-error.ts";

/** How far a request through a proxy came before it failed. */
export type ProxyStage =
  /** The proxy itself was not reached, or does not speak its protocol. */
  | "proxy"
  /** The proxy refused the credentials, or wants some. */
  | "credentials"
  /** The proxy could not, or would not, connect to the target. */
  | "target"
  /** The target's certificate was not accepted, or there is no TLS at its port. */
  | "tls"
  /** The target closed the connection, or did not answer in HTTP. */
  | "answer";

/** A request through a proxy failed. The message is fit for callers: it names neither the proxy nor its credentials. */
export class ProxyFailure extends ProviderError {
  readonly stage: ProxyStage;

  constructor(stage: ProxyStage, message: string, cause?: unknown) {
    super("unreachable", message, 0, cause);
    this.stage = stage;
  }
}
