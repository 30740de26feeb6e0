import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import type { Fetch, OutboundProxy } from "../../src/core/ports/upstream.ts";

/** The next step of a response body. Texts and bytes are sent unchanged. */
export type Step =
  | string
  | Uint8Array
  /** Pause for this many milliseconds of the clock. */
  | { readonly pause: number }
  /** Silence with an open connection. */
  | "silence"
  /** Connection reset. */
  | "reset";

/** Response to one request. */
export type Reply =
  | {
      readonly json: unknown;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A body, of server-sent events unless `type` is given. It ends gracefully after its last step. */
  | {
      readonly body: Iterable<Step>;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Delays the headers by `late` milliseconds. */
  | { readonly late: number; readonly reply: Reply }
  /** Accepts the request and never answers. */
  | "hang"
  /** No connection. */
  | "unreachable";

/** Determines the response to a request. */
export type Script = (asked: UpstreamRequest) => Reply;

/** A request that reached the upstream. */
export class UpstreamRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** With the question mark; empty: none. */
  readonly query: string;
  readonly headers: Headers;
  /** The bearer token; empty if there is none. */
  readonly token: string;
  readonly proxy: OutboundProxy | null;
  /** Arrival time in milliseconds since the epoch. */
  readonly at = Date.now();
  /** The body as text, once it has arrived completely. */
  body = "";
  /** Result of the exchange: `done` (read to its end), `cancelled` (by the gateway) or `broken`. */
  outcome: "open" | "done" | "cancelled" | "broken" = "open";

  constructor(request: Request, proxy: OutboundProxy | null) {
    this.method = request.method;
    const { host, pathname, search } = new URL(request.url);
    this.query = search;
    this.host = host;
    this.path = pathname;
    this.headers = request.headers;
    this.token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    this.proxy = proxy;
  }

  /** The body as a JSON object. */
  json(): JsonObject {
    const value: unknown = JSON.parse(this.body);
    if (!isObject(value)) throw new Error(`${this.path} was sent no JSON object: ${this.body}`);
    return value;
  }
}

/** An upstream within the test process. It answers by its script, uses the test's clock, and records its requests. */
export class ScriptedUpstream {
  /** All requests, oldest first. */
  readonly asked: UpstreamRequest[] = [];
  /** Delay in milliseconds before it reads each piece of a request body. */
  takesEvery = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  /** Returns a fetch function to this upstream, optionally as if through a proxy. */
  through(proxy: OutboundProxy | null): Fetch {
    return async (url, init) => {
      init?.signal?.throwIfAborted();
      // Watch the signal here: passing it to the request would also bind the body to it.
      const { signal, ...rest } = init ?? {};
      const request = new Request(url, rest);
      const asked = new UpstreamRequest(request, proxy);
      this.asked.push(asked);
      const answer = async () => {
        asked.body = this.takesEvery === 0 ? await request.text() : await this.#takeSlowly(request);
        return respond(this.#script(asked), asked, signal ?? null);
      };
      return signal == null ? answer() : untilAborted(answer(), signal, asked);
    };
  }

  async #takeSlowly({ body }: Request): Promise<string> {
    const utf8 = new TextDecoder();
    let text = "";
    for await (const piece of body ?? []) {
      text += utf8.decode(piece, { stream: true });
      await new Promise((resolve) => setTimeout(resolve, this.takesEvery));
    }
    return text + utf8.decode();
  }

  /** The requests to matching paths. */
  to(path: RegExp): UpstreamRequest[] {
    return this.asked.filter((asked) => path.test(asked.path));
  }
}

async function respond(reply: Reply, asked: UpstreamRequest, signal: AbortSignal | null): Promise<Response> {
  if (reply === "hang") return new Promise(() => {});
  if (reply === "unreachable") {
    asked.outcome = "broken";
    throw new TypeError("connection refused");
  }
  if ("late" in reply) {
    await new Promise((resolve) => setTimeout(resolve, reply.late));
    return respond(reply.reply, asked, signal);
  }
  if ("json" in reply) {
    asked.outcome = "done";
    return Response.json(reply.json, { status: reply.status ?? 200, headers: reply.headers ?? {} });
  }
  return new Response(play(reply.body, asked, signal), {
    headers: { "content-type": reply.type ?? "text/event-stream", ...reply.headers },
  });
}

/** Like `work`, but rejects with the signal's reason if the signal aborts first, as `fetch` does. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, asked: UpstreamRequest): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => {
    asked.outcome = "cancelled";
    reject(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Plays the steps as a body. Like a body of `fetch`, it errors with the signal's reason on abort. */
function play(
  steps: Iterable<Step>,
  asked: UpstreamRequest,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const rest = steps[Symbol.iterator]();
  const end = (outcome: UpstreamRequest["outcome"], stop?: () => void) => {
    if (asked.outcome !== "open") return;
    asked.outcome = outcome;
    stop?.();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const stop = () => end("cancelled", () => controller.error(signal?.reason));
        signal?.addEventListener("abort", stop, { once: true });
      },
      pull: async (controller) => {
        while (asked.outcome === "open") {
          const { done, value } = rest.next();
          if (done) return end("done", () => controller.close());
          if (value === "silence") return new Promise(() => {});
          if (value === "reset") return end("broken", () => controller.error(new TypeError("reset")));
          if (typeof value === "string") return controller.enqueue(encoder.encode(value));
          if (value instanceof Uint8Array) return controller.enqueue(value);
          await new Promise((resolve) => setTimeout(resolve, value.pause));
        }
      },
      cancel: () => end("cancelled"),
    },
    { highWaterMark: 0 },
  );
}
