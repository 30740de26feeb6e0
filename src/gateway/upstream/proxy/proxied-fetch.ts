import { ProviderError } from "../../../core/errors/provider-error.ts";
import { withDeadline } from "../../../core/ports/clock.ts";
import type { Fetch, OutboundProxy } from "../../../core/ports/upstream.ts";
import { ByteReader } from "./byte-reader.ts";
import { ProxyFailure, type ProxyStage } from "./failure.ts";
import type { Target } from "./handshake-types.ts";
import { credentialsRefused, proxyAuthorization } from "./http-connect.ts";
import { encodeRequest, sendRequest } from "./request.ts";
import { type BodyReader, bodyReader } from "./response-body.ts";
import { notHttp, type ResponseHead, readHead } from "./response-head.ts";
import type { Dial, ProxySocket } from "./socket.ts";
import { openTunnel } from "./tunnel.ts";

/** How long connecting to the target through a proxy may take, milliseconds. */
const CONNECT_MS = 15_000;

/**
 * Creates a `fetch` that uses an HTTP or SOCKS5 proxy, with one connection per request. Does not follow redirects.
 * A TLS target is reached through a tunnel (CONNECT), and its certificate must name the target. A plain target is
 * reached through a tunnel with SOCKS5, and by forwarding (the whole URL as request target) with an HTTP proxy,
 * because many HTTP proxies allow CONNECT only for TLS.
 *
 * The connection closes at the end of the answer's body, when the body is cancelled, and when the signal aborts.
 *
 * On Cloudflare's production network TLS through a tunnel may fail although it works locally: reports say that the
 * platform ignores the expected host name of the certificate (workerd issue 6903). Such a failure has the stage
 * `tls`.
 *
 * @throws ProxyFailure with the stage and the reason; an abort rejects with the signal's reason.
 */
export function proxiedFetch(dial: Dial, proxy: OutboundProxy): Fetch {
  return async (address, init = {}) => {
    const url = new URL(address);
    const signal = init.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const exchange = new Exchange(dial, proxy, url);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    const stop = () => {
      aborted.reject(signal.reason);
      exchange.end(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    exchange.onEnd = () => signal.removeEventListener("abort", stop);
    try {
      return await Promise.race([exchange.run(init), aborted.promise]);
    } catch (error) {
      exchange.end(error);
      signal.throwIfAborted();
      throw error;
    }
  };
}

/** One request and its answer, on a separate connection. */
class Exchange {
  readonly #dial: Dial;
  readonly #proxy: OutboundProxy;
  readonly #url: URL;
  readonly #target: Target;
  #socket: ProxySocket | null = null;
  #body: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;
  #ended = false;
  /** The stage that the connection has reached. */
  #stage: ProxyStage = "proxy";
  onEnd: () => void = () => undefined;

  constructor(dial: Dial, proxy: OutboundProxy, url: URL) {
    this.#dial = dial;
    this.#proxy = proxy;
    this.#url = url;
    const secure = url.protocol === "https:";
    this.#target = { host: url.hostname, port: Number(url.port || (secure ? 443 : 80)) };
  }

  /** Closes the connection. If `reason` is given, an unfinished body fails with it. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.onEnd();
    this.#socket?.close();
    if (reason !== undefined) this.#body?.error(reason);
  }

  async run(init: RequestInit): Promise<Response> {
    const secure = this.#url.protocol === "https:";
    const forwarding = this.#proxy.type === "http" && !secure && this.#proxy.requiresTunnel !== true;
    const socket = await this.#withConnectTimeout(this.#connect(secure, forwarding));
    const authorization = proxyAuthorization(this.#proxy);
    const path = this.#url.pathname + this.#url.search;
    const request = encodeRequest(
      this.#url,
      forwarding ? `http://${this.#url.host}${path}` : path,
      init,
      forwarding && authorization !== null ? { "proxy-authorization": authorization } : {},
    );
    // The answer may arrive while the request is still being written. Then the answer decides, so ignore write
    // failures.
    sendRequest(socket.writable, request).catch(() => undefined);
    const reader = new ByteReader(socket.readable);
    const head = await this.#failing(
      "answer",
      "the connection through the proxy ended without an answer",
      () => readHead(reader),
    );
    if (forwarding && head.status === 407) throw credentialsRefused(this.#proxy);
    const body = bodyReader(reader, head, (init.method ?? "GET").toUpperCase());
    if (body === null) this.end();
    const stream = body === null ? null : this.#stream(body);
    return createResponse(head, stream);
  }

  /** Limits the time for connecting to the target. */
  async #withConnectTimeout<T>(connection: Promise<T>): Promise<T> {
    try {
      return await withDeadline(
        connection,
        CONNECT_MS,
        () => new ProxyFailure(this.#stage, "the proxy did not connect in time"),
      );
    } finally {
      connection.catch(() => undefined);
    }
  }

  async #connect(secure: boolean, forwarding: boolean): Promise<ProxySocket> {
    const { host, port } = this.#proxy;
    let socket = await this.#failing("proxy", "the proxy cannot be reached", async () => {
      const socket = await this.#dial(host, port);
      this.#socket = socket;
      if (this.#ended) socket.close();
      await socket.opened;
      return socket;
    });
    if (forwarding) return socket;
    await openTunnel(socket, this.#proxy, this.#target);
    if (!secure) return socket;
    const name = this.#target.host;
    this.#stage = "tls";
    socket = await this.#failing(
      "tls",
      `no trusted TLS connection to ${name} through the proxy`,
      async () => {
        const tlsSocket = await socket.startTls(name);
        this.#socket = tlsSocket;
        if (this.#ended) tlsSocket.close();
        await tlsSocket.opened;
        return tlsSocket;
      },
    );
    return socket;
  }

  async #failing<T>(stage: ProxyStage, message: string, operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw new ProxyFailure(stage, message, error);
    }
  }

  #stream(read: BodyReader): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: async (controller) => {
          try {
            const bytes = await read();
            if (this.#ended) return;
            if (bytes !== null) {
              controller.enqueue(bytes);
              return;
            }
            controller.close();
            this.end();
          } catch (error) {
            this.end(new ProxyFailure("answer", "the answer through the proxy broke off", error));
          }
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }
}

/**
 * Builds the answer as `fetch` would return it. Decompresses a compressed body, although the request did not accept
 * compression.
 */
function createResponse(
  { status, statusText, headers }: ResponseHead,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): Response {
  const coding = headers.get("content-encoding")?.trim().toLowerCase();
  headers.delete("transfer-encoding");
  headers.delete("connection");
  const packed = body !== null && (coding === "gzip" || coding === "deflate");
  if (packed) {
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  const plain = packed ? body.pipeThrough(new DecompressionStream(coding)) : body;
  try {
    return new Response(plain, { status, statusText, headers });
  } catch (error) {
    // A status above 599, or control characters in its text.
    throw notHttp(error);
  }
}
