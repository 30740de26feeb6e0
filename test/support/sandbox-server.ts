import type { IncomingMessage, ServerResponse } from "node:http";
import { SandboxBackend } from "../../sandbox/desk.ts";
import { SandboxProvider } from "../../sandbox/provider.ts";
import { createMemoryStores } from "../../sandbox/shelves.ts";
import { serve } from "./local-server.ts";
import { SandboxControl } from "./sandbox.ts";

/** The sandbox provider on a local port, for gateways that reach it by URL. */
export interface SandboxServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly control: SandboxControl;
  close(): Promise<void>;
}

/** Starts a sandbox with empty stores; `vars` as for its Worker. */
export async function startSandbox(vars: Readonly<Record<string, string>> = {}): Promise<SandboxServer> {
  const tokenLifetimeSeconds = Number(vars["TOKEN_LIFETIME_SECONDS"] ?? 86_400);
  const desk = new SandboxBackend(createMemoryStores(), { now: Date.now, tokenLifetimeSeconds });
  const provider = new SandboxProvider({ desk });
  const { origin, close } = await serve((incoming, outgoing) => answer(provider, incoming, outgoing));
  return {
    url: origin,
    control: new SandboxControl((path, method) =>
      provider.fetch(new Request(`http://sandbox${path}`, { method })),
    ),
    close,
  };
}

async function answer(
  provider: SandboxProvider,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  outgoing.once("close", () => left.abort());
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  const method = incoming.method ?? "GET";
  const response = await provider.fetch(
    new Request(`http://sandbox${incoming.url}`, {
      method,
      headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      body: method === "GET" || method === "HEAD" ? null : Buffer.concat(pieces),
      signal: left.signal,
    }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  outgoing.once("close", () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    outgoing.write(value);
  }
  outgoing.end();
}
