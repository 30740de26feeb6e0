import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Number of clients for each kind of slow behavior. */
export interface SlowClientCounts {
  /** Connect and send nothing. */
  readonly idle: number;
  /** Request a long stream and never read it. */
  readonly neverReading: number;
  /** Send one byte per second: half of them the request's head, half its body. */
  readonly trickling: number;
}

/** Connections opened at the same time. More would overflow the listening socket's queue. */
const AT_ONCE = 100;

/** Deliberately slow clients of a gateway; all sockets are local. */
export class SlowClients {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #port: number;
  readonly #host: string;
  #ended = 0;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Number of connections that the gateway has closed. */
  get ended(): number {
    return this.#ended;
  }

  get size(): number {
    return this.#sockets.length;
  }

  /** Adds clients. `answerChars` is the length of the unread answers. */
  async add({ idle, neverReading, trickling }: SlowClientCounts, answerChars: number): Promise<void> {
    await this.#open(idle, () => undefined);
    await this.#open(neverReading, (socket, index) => {
      socket.pause();
      socket.write(request(`[[big:${answerChars}]]`, { stream: true }, `sandbox-token-slow${index}`));
    });
    await this.#open(trickling, (socket, index) => {
      const text = request("x".repeat(5_000), {}, `sandbox-token-slow${index}`);
      let at = index % 2 === 0 ? 0 : text.indexOf("\r\n\r\n") + 4;
      if (at > 0) socket.write(text.slice(0, at));
      this.#timers.push(
        setInterval(() => {
          if (!socket.destroyed) socket.write(text.slice(at, at + 1));
          at += 1;
        }, 1_000),
      );
    });
  }

  /** Closes all connections. */
  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
    await sleep(100);
  }

  async #open(count: number, begin: (socket: Socket, index: number) => void): Promise<void> {
    for (let from = 0; from < count; from += AT_ONCE) {
      const size = Math.min(AT_ONCE, count - from);
      await Promise.all(
        Array.from({ length: size }, async (_, index) => {
          const socket = connect({ host: this.#host, port: this.#port });
          this.#sockets.push(socket);
          socket.on("error", () => undefined);
          socket.once("close", () => {
            this.#ended += 1;
          });
          await once(socket, "connect");
          begin(socket, from + index);
        }),
      );
    }
  }
}

/** A chat completion as raw HTTP, with the provider's own token, so it occupies no slot of an account. */
function request(text: string, extra: object, token: string): string {
  const body = JSON.stringify({
    model: "provider-v4-flash-nothinking",
    messages: [{ role: "user", content: text }],
    ...extra,
  });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    "content-type: application/json",
    `authorization: Bearer ${token}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** Durations of requests in milliseconds. */
export interface Times {
  readonly quickest: number;
  readonly median: number;
  readonly p95: number;
}

/** Times sequential requests. */
export async function timesOf(count: number, ask: () => Promise<void>): Promise<Times> {
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { quickest: at(0), median: at(0.5), p95: at(0.95) };
}
