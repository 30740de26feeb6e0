import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How many clients of each bad habit there are. */
export interface SlowClients {
  /** They connect, and say nothing. */
  readonly idle: number;
  /** They ask for a long stream, and never read it. */
  readonly neverReading: number;
  /** They send a request one byte a second: half of them its head, half its body. */
  readonly trickling: number;
}

/** Connections that are opened at once: more would overrun the queue of the listening socket. */
const AT_ONCE = 100;

/** Clients of a gateway that are slow on purpose; every socket is this machine's own. */
export class SlowCrowd {
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

  /** Connections that the gateway has ended. */
  get ended(): number {
    return this.#ended;
  }

  get size(): number {
    return this.#sockets.length;
  }

  /** Adds clients. `answerChars` is how long the answers are that nobody reads. */
  async add({ idle, neverReading, trickling }: SlowClients, answerChars: number): Promise<void> {
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

  /** Ends them all. */
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

/** One chat completion as it goes over the wire, on the provider's own token: it holds no slot of an account. */
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

/** How long requests took, in milliseconds. */
export interface Times {
  readonly quickest: number;
  readonly median: number;
  readonly p95: number;
}

/** Times requests one after the other. */
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
