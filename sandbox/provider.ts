import type { Call, Upload } from "./call.ts";
import { SandboxBackend } from "./desk.ts";
import type { Reply } from "./replies.ts";
import { createMemoryStores } from "./shelves.ts";
import { playSteps } from "./stream.ts";

/** Handler of calls: a backend in this process, or a remote one. */
export interface CallHandler {
  handle(call: Call): Reply | Promise<Reply>;
  closed(streamId: string): void | Promise<void>;
}

/** Options of the mock provider; all have defaults. */
export interface SandboxProviderOptions {
  /** Default: a new backend in memory. */
  readonly desk?: CallHandler;
  /** Receives work that continues after the response. Default: ignored. */
  readonly waitUntil?: (work: Promise<void>) => void;
}

const DAY_SECONDS = 86_400;
const EXCERPT_BYTES = 200_000;

/**
 * Mock provider with the account protocol, as a Web-standard `fetch`. Deterministic: the same sequence of requests gets the
 * same responses.
 */
export class SandboxProvider {
  readonly #desk: CallHandler;
  readonly #waitUntil: (work: Promise<void>) => void;

  constructor({ desk, waitUntil }: SandboxProviderOptions = {}) {
    this.#desk =
      desk ?? new SandboxBackend(createMemoryStores(), { now: Date.now, tokenLifetimeSeconds: DAY_SECONDS });
    this.#waitUntil = waitUntil ?? (() => {});
  }

  /** Answers one request of the provider protocol. */
  async fetch(request: Request): Promise<Response> {
    const reply = await this.#desk.handle(await readCall(request));
    if (reply.kind === "json") {
      const headers = { "content-type": "application/json" };
      return new Response(reply.status === 204 ? null : reply.text, { status: reply.status, headers });
    }
    if (reply.late > 0) await sleep(reply.late, request.signal);
    const { body, done } = playSteps(reply.steps, reply.format, request.signal, {
      sleep,
      closed: () => this.#desk.closed(reply.id),
    });
    this.#waitUntil(done);
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
    });
  }
}

async function readCall(request: Request): Promise<Call> {
  const url = new URL(request.url);
  const authorization = request.headers.get("authorization") ?? "";
  const type = request.headers.get("content-type") ?? "";
  const multipart = type.startsWith("multipart/form-data");
  return {
    method: request.method,
    path: url.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodePart),
    query: Object.fromEntries(url.searchParams),
    token: /^Bearer \S/i.test(authorization) ? authorization.slice(7).trim() : null,
    body: /^application\/json\b/i.test(type) ? await request.text() : null,
    upload: multipart ? await readUpload(request) : null,
  };
}

async function readUpload(request: Request): Promise<Upload | null> {
  const form = await request.formData().catch(() => null);
  const file = form?.get("file");
  if (form === null || !(file instanceof File)) return null;
  const purpose = form.get("purpose");
  const start = new Uint8Array(await file.slice(0, EXCERPT_BYTES).arrayBuffer());
  return {
    filename: file.name,
    bytes: file.size,
    purpose: typeof purpose === "string" && purpose !== "" ? purpose : "assistants",
    excerpt: start.includes(0) ? "" : new TextDecoder().decode(start),
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error("The reader has left."));
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Error("The reader has left."));
    });
  });
}
