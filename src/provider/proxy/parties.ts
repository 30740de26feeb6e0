import type { ByteReader } from "./byte-reader.ts";

/** Where a proxy is to connect to. `host` as in a URL: an IPv6 address stands in brackets. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What a handshake needs of a connection. */
export interface Handshake {
  readonly reader: ByteReader;
  write(bytes: Uint8Array): Promise<void>;
}
