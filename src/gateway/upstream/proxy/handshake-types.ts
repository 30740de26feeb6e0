import type { ByteReader } from "./byte-reader.ts";

/** The host and port to which a proxy connects. `host` has the form in a URL: an IPv6 address is in brackets. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** The connection operations that a handshake needs. */
export interface Handshake {
  readonly reader: ByteReader;
  write(bytes: Uint8Array): Promise<void>;
}
