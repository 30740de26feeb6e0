import type { Fetch } from "../../provider/provider.ts";
import type { OutboundProxy } from "../platform.ts";

/** Clients kept at one moment: each has connections of its own. */
const MAX_CLIENTS = 50;

/** Where a proxy listens, as the runtime's HTTP client wants it. Names are looked up by the proxy (`socks5h`). */
function proxyUrl({ type, host, port }: OutboundProxy): string {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return `${type === "socks5" ? "socks5h" : "http"}://${name}:${port}`;
}

/** An HTTP client for each proxy, made when it is first needed. */
export class ProxyClients {
  readonly #clients = new Map<string, Deno.HttpClient>();

  /** Requests through a proxy. */
  fetchThrough(proxy: OutboundProxy): Fetch {
    return (url, init) => fetch(url, { ...init, client: this.#client(proxy) });
  }

  #client(proxy: OutboundProxy): Deno.HttpClient {
    const key = JSON.stringify([proxy.type, proxy.host, proxy.port, proxy.username, proxy.password]);
    const known = this.#clients.get(key);
    // The one used least recently is the first to go. Dropped, not closed: streams may still come through it.
    this.#clients.delete(key);
    const client = known ?? this.#create(proxy);
    this.#clients.set(key, client);
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= MAX_CLIENTS) break;
      this.#clients.delete(oldest);
    }
    return client;
  }

  #create(proxy: OutboundProxy): Deno.HttpClient {
    const { username, password } = proxy;
    const basicAuth = { username, password };
    return Deno.createHttpClient({
      proxy: { url: proxyUrl(proxy), ...(username === "" && password === "" ? {} : { basicAuth }) },
    });
  }
}
