/** A TCP connection as runtimes present it. */
export interface ProxySocket {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array>;
  /** Settles when the connection (after `startTls` the handshake) stands or has failed. */
  readonly opened: Promise<unknown>;
  /**
   * Goes on in TLS. `hostname` is whom the certificate has to name. The streams of this socket must not be locked, and
   * are of no use afterwards.
   */
  startTls(hostname: string): ProxySocket | Promise<ProxySocket>;
  /** Ends the connection at once; never throws. */
  close(): void;
}

/** Opens a TCP connection. */
export type Dial = (host: string, port: number) => ProxySocket | Promise<ProxySocket>;
