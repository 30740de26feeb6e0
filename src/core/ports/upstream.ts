/** `fetch`, possibly through an account's outbound proxy. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** An outbound proxy that an account's upstream traffic goes through. */
export interface OutboundProxy {
  readonly type: "http" | "socks5";
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /**
   * Reach plain targets, too, through a tunnel (CONNECT), and refuse an answer that only a web server would give to
   * CONNECT: this shows that the server is a proxy.
   */
  readonly requiresTunnel?: boolean;
}
