/** A TCP connection as the runtimes provide it. */
export interface ProxySocket {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array>;
  /** Settles when the connection (after `startTls`: the TLS handshake) is established or has failed. */
  readonly opened: Promise<unknown>;
  /**
   * Upgrades the connection to TLS. The certificate must name `hostname`. The streams of this socket must not be
   * locked, and cannot be used afterwards.
   */
  startTls(hostname: string): ProxySocket | Promise<ProxySocket>;
  /** Closes the connection at once. Never throws. */
  close(): void;
}

/** Opens a TCP connection. */
export type Dial = (host: string, port: number) => ProxySocket | Promise<ProxySocket>;
