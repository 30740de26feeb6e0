import { handleRequest } from "../../../../src/app.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import type { SocketListener } from "../../../../src/core/ports/web-socket.ts";
import { type MemoryPlatformOptions, memoryPlatform } from "../../../support/memory-platform.ts";
import "../../../support/route-groups.ts";

/** Log lines of requests, some of which come when the answer has been read, are left out: there is one for each input. */
const { log } = console;
let latestLine = "";
console.log = (...words: unknown[]) => {
  const [line] = words;
  if (typeof line === "string" && line.startsWith('{"at":')) latestLine = line;
  else log(...words);
};

/** The whole program on a platform in memory, for one input. Nothing of it may be an error of its own. */
export class FuzzedGateway {
  readonly platform: Platform;
  /** What goes on behind the answers. */
  readonly #turns: Promise<unknown>[] = [];

  private constructor(platform: Platform) {
    this.platform = platform;
  }

  static async open(options: MemoryPlatformOptions, change: Partial<Platform> = {}): Promise<FuzzedGateway> {
    const env = { ADMIN_KEY: "admin", QUEUE_TIMEOUT_MS: "50", ...options.env };
    return new FuzzedGateway({ ...(await memoryPlatform({ ...options, env })), ...change });
  }

  /** Has the program take a message over a WebSocket. Resolves to all that it sends back. */
  static async talk(message: string): Promise<readonly string[]> {
    const sent: string[] = [];
    const open: SocketListener[] = [];
    const socket = {
      waiting: 0,
      send: (text: string) => {
        sent.push(text);
        return null;
      },
      close: () => undefined,
    };
    const gateway = await FuzzedGateway.open(
      {},
      {
        upgradeToWebSocket: (_request, listen) => {
          open.push(listen(socket));
          // Node makes no response with the status that hands a connection over.
          return Object.defineProperty(new Response(null), "status", { value: 101 });
        },
      },
    );
    const headers = {
      ...{ authorization: "Bearer sk-test", upgrade: "websocket", connection: "upgrade" },
      ...{ "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
    };
    await gateway.ask(new Request("http://gateway.test/v1/responses", { headers }));
    // The connection itself lasts until it is closed.
    const before = gateway.#turns.length;
    for (const connection of open) connection.onMessage(message);
    await Promise.all(gateway.#turns.slice(before));
    for (const connection of open) connection.onClose();
    return sent;
  }

  /** Has the program answer a request. Rejects where the answer says 500, or is no JSON although it says so. */
  async ask(request: Request): Promise<void> {
    const response = await handleRequest(request, {
      platform: this.platform,
      waitUntil: (work) => {
        // The response reports errors. The test waits for messages over WebSockets.
        this.#turns.push(work.catch(() => undefined));
      },
      clientAddress: "192.0.2.1",
    });
    const text = await response.text();
    const { status, headers } = response;
    if (status === 500) throw new Error(`status 500: ${text.slice(0, 500)} ${latestLine.slice(0, 2_000)}`);
    const isJson = headers.get("content-type")?.startsWith("application/json") === true;
    if (text !== "" && isJson) JSON.parse(text);
  }
}
