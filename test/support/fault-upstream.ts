import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyBytes, errorBody, eventBlocks, type Plan, type Protocol } from "./fault-body.ts";
import { wantsWhole, wholeAnswer } from "./whole-answers.ts";

export type { Plan, Protocol } from "./fault-body.ts";

/** A request as the upstream received it. Times are milliseconds since the epoch. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly receivedAt: number;
  /** End of the exchange; undefined while it is open. */
  closedAt?: number;
  /** True if the response was sent completely; false if either side broke it off. */
  completed: boolean;
  /** Bytes of the body written so far. */
  written: number;
}

/**
 * A real HTTP server that acts as an upstream of any protocol and fails as scripted: `/api/...` is the account protocol;
 * `/chat/completions`, `/responses`, `/messages`, `/models/…:generateContent` and `/models` (with or without `/v1`) are
 * backends of those styles.
 */
export class FaultUpstream {
  /** All requests, oldest first. */
  readonly requests: Received[] = [];
  /** Plan for generations while the queue is empty. */
  plan: Plan = {};
  readonly #queue: Plan[] = [];
  readonly #server: Server;
  #signIns = 0;
  #expiredUpTo = 0;
  #sessions = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts on a free port of 127.0.0.1. */
  static async start(plan: Plan = {}): Promise<FaultUpstream> {
    const server = createServer({ keepAlive: true });
    const upstream = new FaultUpstream(server);
    upstream.plan = plan;
    server.on("request", (request, response) => {
      upstream.#answer(request, response).catch(() => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return upstream;
  }

  /** URL without a trailing slash. */
  get url(): string {
    return `http://127.0.0.1:${addressOf(this.#server).port}`;
  }

  /** Uses these plans for the next generations, in order; afterwards `plan` again. */
  queue(...plans: Plan[]): void {
    this.#queue.push(...plans);
  }

  /** The requests for generations. */
  get generations(): Received[] {
    return this.requests.filter(({ method, path }) => method === "POST" && isGeneration(path));
  }

  /** Number of generations in progress. */
  get open(): number {
    return this.generations.filter(({ closedAt }) => closedAt === undefined).length;
  }

  /** Number of sign-ins. */
  get signIns(): number {
    return this.#signIns;
  }

  /** Rejects all tokens from sign-ins so far with 401 `token_expired`. */
  expireTokens(): void {
    this.#expiredUpTo = this.#signIns;
  }

  /** Clears requests and queued plans. */
  clear(): void {
    this.requests.length = 0;
    this.#queue.length = 0;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received: Received = {
      method: request.method ?? "",
      path: (request.url ?? "").split("?")[0] ?? "",
      headers: request.headers,
      body: await readAll(request),
      receivedAt: Date.now(),
      completed: false,
      written: 0,
    };
    this.requests.push(received);
    response.on("finish", () => {
      received.completed = true;
    });
    response.on("close", () => {
      received.closedAt = Date.now();
    });
    if (isGeneration(received.path)) {
      const protocol = protocolOf(received.path);
      const plan = this.#tokenExpired(request)
        ? { status: 401, code: "token_expired" }
        : (this.#queue.shift() ?? this.plan);
      await play(inOnePiece(plan, protocol, received), protocol, received, response);
    } else {
      const [status, body] = this.#answerOther(received.method, received.path, this.#tokenExpired(request));
      json(response, status, body);
    }
  }

  /** Status and body of everything except generations. */
  #answerOther(method: string, path: string, expired: boolean): [status: number, body?: object] {
    if (path === "/api/login") {
      const token = `upstream-token-${++this.#signIns}`;
      return [200, { token, expires_at: Math.floor(Date.now() / 1000) + 86_400 }];
    }
    if (path.endsWith("/models")) return [200, { object: "list", data: [{ id: "upstream-model" }] }];
    if (expired) return [401, toldTo("sessions", "token_expired")];
    if (path === "/api/account")
      return [200, { id: "upstream", email: null, mobile: null, session_count: 0 }];
    if (path === "/api/sessions" && method === "POST") return [201, { id: `session-${++this.#sessions}` }];
    if (path === "/api/sessions" && method === "GET") return [200, { data: [], total: 0, next_cursor: null }];
    if (path === "/api/sessions") return [200, { deleted: 0 }];
    if (path.startsWith("/api/sessions/")) return [204];
    if (path.startsWith("/api/files")) return [200, file];
    return [404, toldTo("sessions", "not_found")];
  }

  #tokenExpired(request: IncomingMessage): boolean {
    const serial = request.headers.authorization?.match(/upstream-token-(\d+)$/)?.[1];
    return serial !== undefined && Number(serial) <= this.#expiredUpTo;
  }
}

/** A URL that refuses connections. */
export async function refusedUrl(): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = addressOf(server);
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

/** The same plan for a request without streaming, if the protocol offers the choice. */
function inOnePiece(plan: Plan, protocol: Protocol, { body: asked, path }: Received): Plan {
  if (protocol === "sessions" || plan.body !== undefined || !wantsWhole(asked, path)) return plan;
  const blocks = eventBlocks(protocol, plan);
  const body = wholeAnswer(protocol, blocks);
  // A backend that stalls has not sent anything by then.
  const { stallAfter, ...rest } = plan;
  return {
    ...rest,
    contentType: "application/json",
    body,
    ...(stallAfter === undefined ? {} : { hang: true }),
  };
}

async function play(
  plan: Plan,
  protocol: Protocol,
  received: Received,
  response: ServerResponse,
): Promise<void> {
  if (plan.hang) return;
  if (plan.interimForever) {
    await floodInterim(response);
    return;
  }
  if (plan.headersAfter !== undefined) await sleep(plan.headersAfter);
  if (response.destroyed) return;
  if (plan.status !== undefined) {
    json(response, plan.status, toldTo(protocol, plan.code ?? "rate_limited"), plan.headers);
    return;
  }
  const type = plan.contentType ?? "text/event-stream";
  response.writeHead(200, { "content-type": type, ...plan.headers }).flushHeaders();
  let index = 0;
  for (const bytes of writes(plan, protocol)) {
    if (index === plan.hold?.at) await plan.hold.until;
    index += 1;
    if (response.destroyed) return;
    received.written += bytes.length;
    await write(response, bytes);
    if (plan.eventEvery !== undefined) await sleep(plan.eventEvery);
  }
  if (plan.resetAt !== undefined) response.socket?.resetAndDestroy();
  else if (plan.stallAfter === undefined) response.end();
}

async function floodInterim(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    for (let n = 0; n < 10; n += 1) response.writeContinue();
    await sleep(5);
  }
}

/** The writes of the body, up to the place where the plan breaks off. */
function* writes(plan: Plan, protocol: Protocol): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const limit = plan.cutAt ?? plan.resetAt ?? Number.POSITIVE_INFINITY;
  const whole = typeof plan.body === "string" ? encoder.encode(plan.body) : plan.body;
  const torn = whole ?? (plan.writeSize === undefined ? undefined : bodyBytes(protocol, plan));
  const pieces =
    torn === undefined
      ? eventBlocks(protocol, plan)
          .slice(0, plan.stallAfter)
          .map((text) => encoder.encode(text))
      : slices(torn, plan.writeSize ?? torn.length);
  let sent = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, Math.max(0, limit - sent));
    sent += part.length;
    if (part.length > 0) yield part;
  }
}

function* slices(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Waits until the socket has taken the bytes, so that each piece is a separate write. */
async function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once("close", resolve);
    response.write(bytes, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}

const file = {
  id: "file-1",
  bytes: 1,
  filename: "file.txt",
  purpose: "assistants",
  status: "processed",
  created_at: 1_800_000_000,
};

const isGeneration = (path: string): boolean =>
  /\/turns(?:\/|$)|\/chat\/completions$|\/responses$|\/messages$|:(?:streamG|g)enerateContent$/.test(path);

function protocolOf(path: string): Protocol {
  if (path.includes("/turns")) return "sessions";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("enerateContent")) return "content-generation";
  return path.endsWith("/messages") ? "messages" : "chat-completions";
}

function toldTo(protocol: Protocol, code: string): object {
  return errorBody(protocol, code, `The upstream was told to answer ${code}.`);
}

function json(
  response: ServerResponse,
  status: number,
  body: object | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(body && JSON.stringify(body));
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address;
}
