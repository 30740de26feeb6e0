import { type ClientRequest, type IncomingMessage, request as startRequest } from "node:http";
import type { Gateway } from "./gateway.ts";
import { SlowClients } from "./slow-clients.ts";
import { strangerNumber, WebSocketClients } from "./web-sockets.ts";

const MIB = 1024 * 1024;

/** Amount that unauthenticated clients try to occupy. */
export interface MemoryUseSize {
  /** Number of simultaneous clients. */
  readonly clients: number;
  /** Bytes that one client sends, or makes the gateway send. */
  readonly bytes: number;
}

/** Resources that the clients occupy until they end. */
export interface HeldMemory {
  /** Statuses of the responses; 0: the gateway closed the connection. */
  readonly statuses: readonly number[];
  end(): Promise<void>;
}

/** A kind of input that makes a process hold memory. */
export interface MemoryUse {
  readonly name: string;
  /** Occupies as much as the gateway allows. */
  readonly take: (gateway: Gateway, size: MemoryUseSize) => Promise<HeldMemory>;
}

/** All kinds of input that make a process hold memory. The clients' tokens are unknown to every provider. */
export const MEMORY_USES: readonly MemoryUse[] = [
  { name: "bodies that do not end", take: takeBodies },
  { name: "WebSockets, idle", take: takeIdleSockets },
  { name: "WebSockets, messages that do not end", take: takePartialMessages },
  { name: "WebSockets, kept responses", take: takeKeptResponses },
  { name: "WebSockets, answers that nobody reads", take: takeUnreadMessages },
  { name: "streams that nobody reads", take: takeUnreadStreams },
  { name: "whole answers that nobody reads", take: takeUnreadAnswers },
  { name: "files, in forms that do not end", take: takeForms },
  { name: "files, in pieces that do not end", take: takePieces },
  { name: "stored responses", take: takeStoredResponses },
  { name: "jobs of the page service", take: takeJobs },
  { name: "tokens, models, paths and request ids", take: takeNames },
];

/** Slow HTTP requests of unauthenticated clients. */
class SlowRequests {
  readonly #gateway: Gateway;
  readonly #requests: ClientRequest[] = [];
  readonly statuses: number[] = [];

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Starts a request that sends less than its declared body. Does not read the response. */
  start(
    method: string,
    path: string,
    headers: Record<string, string>,
    body = Buffer.alloc(0),
  ): ClientRequest {
    const request = startRequest(new URL(path, this.#gateway.url).href, { agent: false, method, headers });
    this.#requests.push(request);
    request.on("response", ({ statusCode = 0 }: IncomingMessage) => void this.statuses.push(statusCode));
    request.on("error", () => void this.statuses.push(0));
    request.write(body);
    return request;
  }

  /** Resolves when each request has sent its part or has received its response. */
  async settle(): Promise<void> {
    await Promise.all(
      this.#requests.map(
        (request) =>
          new Promise<void>((resolve) => {
            if (request.writableLength === 0 || request.destroyed) resolve();
            for (const event of ["drain", "response", "error", "close"]) request.once(event, () => resolve());
          }),
      ),
    );
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#requests.splice(0).map(
        (request) =>
          new Promise<void>((resolve) => {
            if (request.closed) resolve();
            request.once("close", resolve);
            request.destroy();
          }),
      ),
    );
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { "content-type": "application/json" };

/**
 * Without the checks of a test gateway, because responses are large and tokens are many. Each request has a connection of its own:
 * a busy client may choose one that the gateway is closing because nothing was asked on it for a while.
 */
const ask = (
  { url }: Gateway,
  path: string,
  { headers, ...init }: RequestInit & { readonly headers: Record<string, string> },
) => fetch(`${url}${path}`, { ...init, headers: { ...headers, connection: "close" } });

async function statusOf(answer: Promise<Response>): Promise<number> {
  try {
    const response = await answer;
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

async function takeBodies(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const requests = new SlowRequests(gateway);
  const body = Buffer.from(`{"model":"gpt-4o","x":"${"x".repeat(Math.floor(bytes / 4))}`);
  const headers = { ...json, "content-length": String(body.length + MIB) };
  for (let index = 0; index < clients; index += 1) {
    requests.start("POST", "/v1/chat/completions", { ...headers, ...bearer(`made-up-${index}`) }, body);
  }
  await requests.settle();
  return requests;
}

async function takeIdleSockets(gateway: Gateway, { clients }: MemoryUseSize): Promise<HeldMemory> {
  const connections = new WebSocketClients(gateway);
  await connections.open(20 * clients);
  return { statuses: connections.refusals, end: () => connections.end() };
}

async function takePartialMessages(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const connections = new WebSocketClients(gateway);
  const sockets = await connections.open(clients);
  await Promise.all(
    sockets.map(async (socket) => {
      for (let sent = 0; sent < 4 * bytes && socket.closeCode === null; sent += MIB)
        await socket.sendPart(MIB);
    }),
  );
  return { statuses: connections.refusals, end: () => connections.end() };
}

async function takeKeptResponses(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const connections = new WebSocketClients(gateway);
  for (let index = 0; index < clients; index += 1) {
    const [socket] = await connections.open(1, () => strangerNumber(index));
    for (let kept = 0; kept < 4; kept += 1) {
      socket?.keep(Math.floor(bytes / 8));
      await socket?.outcome();
    }
  }
  return { statuses: connections.refusals, end: () => connections.end() };
}

async function takeUnreadMessages(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const connections = new WebSocketClients(gateway);
  const sockets = await connections.open(clients);
  for (const socket of sockets) {
    socket.stopReading();
    for (let asked = 0; asked < 8; asked += 1) socket.keep(1, { instructions: "x".repeat(bytes / 8) });
  }
  await Promise.all(sockets.map((socket) => socket.flush()));
  return { statuses: connections.refusals, end: () => connections.end() };
}

async function takeUnreadStreams(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const connections = new SlowClients(gateway.url);
  await connections.add({ idle: 0, neverReading: 10 * clients, trickling: 0 }, Math.floor(bytes / 8));
  return { statuses: [], end: () => connections.end() };
}

async function takeUnreadAnswers(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const stored = await storeResponse(gateway, "made-up", bytes);
  const requests = new SlowRequests(gateway);
  const path = `/v1/responses/${stored.id}`;
  for (let index = 0; index < 2 * clients; index += 1) requests.start("GET", path, bearer("made-up")).end();
  await requests.settle();
  requests.statuses.push(stored.status);
  return requests;
}

async function storeResponse(
  gateway: Gateway,
  token: string,
  bytes: number,
): Promise<{ id: string; status: number }> {
  const body = { model: "gpt-5", generate: false, input: "x", instructions: "x".repeat(bytes) };
  const response = await ask(gateway, "/v1/responses", {
    method: "POST",
    headers: { ...json, ...bearer(token) },
    body: JSON.stringify(body),
  });
  const { id = "" }: { id?: string } = JSON.parse(await response.text());
  return { id, status: response.status };
}

async function takeForms(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const requests = new SlowRequests(gateway);
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
  const body = Buffer.from(head + "x".repeat(bytes));
  const type = {
    "content-type": "multipart/form-data; boundary=b",
    "content-length": String(body.length + MIB),
  };
  for (let index = 0; index < 2 * clients; index += 1) {
    requests.start("POST", "/v1/files", { ...type, ...bearer(`sandbox-token-slow${index}`) }, body);
  }
  await requests.settle();
  return requests;
}

async function takePieces(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const requests = new SlowRequests(gateway);
  const piece = Buffer.alloc(bytes);
  for (let index = 0; index < 2 * clients; index += 1) {
    const begun = await ask(gateway, "/upload/v1beta/files", {
      method: "POST",
      headers: {
        ...bearer(`made-up-${index}`),
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
      },
    });
    const address = new URL(begun.headers.get("x-goog-upload-url") ?? "/healthz", gateway.url);
    await begun.body?.cancel();
    const headers = {
      "x-goog-upload-command": "upload",
      "x-goog-upload-offset": "0",
      "content-length": String(piece.length + MIB),
    };
    requests.start("POST", `${address.pathname}${address.search}`, headers, piece);
  }
  await requests.settle();
  return requests;
}

async function takeStoredResponses(gateway: Gateway, { clients, bytes }: MemoryUseSize): Promise<HeldMemory> {
  const statuses: number[] = [];
  for (let index = 0; index < clients; index += 1) {
    const { status } = await storeResponse(gateway, `made-up-${index}`, bytes);
    statuses.push(status);
  }
  return { statuses, end: async () => undefined };
}

async function takeJobs(gateway: Gateway, { clients }: MemoryUseSize): Promise<HeldMemory> {
  const urls = Array.from({ length: 50 }, (_, index) => `http://10.0.0.1/${"x".repeat(1_000)}${index}`);
  const statuses: number[] = [];
  for (let index = 0; index < 10 * clients; index += 1) {
    const headers = { ...json, "cf-connecting-ip": `198.51.100.${index % 256}` };
    const answer = ask(gateway, "/v1/thumbs", { method: "POST", headers, body: JSON.stringify({ urls }) });
    statuses.push(await statusOf(answer));
  }
  return { statuses, end: async () => undefined };
}

async function takeNames(gateway: Gateway, { clients }: MemoryUseSize): Promise<HeldMemory> {
  const statuses: number[] = [];
  for (let index = 0; index < 25 * clients; index += 1) {
    const name = `${index}-${"n".repeat(2_000)}`;
    const body = JSON.stringify({ model: name, messages: [{ role: "user", content: "hi" }] });
    const headers = { ...json, ...bearer(name), "x-request-id": name.slice(0, 120) };
    const path = `/v1/${index % 2 === 0 ? "chat/completions" : name}`;
    statuses.push(await statusOf(ask(gateway, path, { method: "POST", headers, body })));
  }
  return { statuses, end: async () => undefined };
}
