/** `fetch`, possibly through an account's outbound proxy. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** An outbound proxy that an account's upstream traffic goes through. */
export interface OutboundProxy {
  readonly type: "http" | "socks5";
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
}
