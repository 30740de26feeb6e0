import { setTimeout as sleep } from "node:timers/promises";

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A connection to an isolate's debugger (Chrome DevTools Protocol). */
export class Inspector {
  readonly #socket: WebSocket;
  #serial = 0;
  readonly #waiting = new Map<number, Pending>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id = 0, result, error }: Answer = JSON.parse(String(data));
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message));
    });
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the inspector has gone"));
      this.#waiting.clear();
    });
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    const inspector = new Inspector(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)), { once: true });
    });
    return inspector;
  }

  call(method: string, params: object = {}): Promise<unknown> {
    this.#serial += 1;
    const id = this.#serial;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }
}

/** Returns the debugger URL of the isolate whose id matches `wanted`. */
export async function debuggerAt(address: URL, wanted: RegExp): Promise<string> {
  const list = new URL("/json", String(address).replace(/^ws/, "http"));
  const targets: { id: string; webSocketDebuggerUrl: string }[] = await (await fetch(list)).json();
  const target = targets.find(({ id }) => wanted.test(id));
  if (target === undefined) throw new Error(`nothing to debug at ${address}`);
  return target.webSocketDebuggerUrl;
}

/** Follows the exceptions of an isolate that its runtime reports as uncaught. */
export async function followUncaught(url: string): Promise<readonly string[]> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)), { once: true });
  });
  const uncaught: string[] = [];
  const enabled = Promise.withResolvers<void>();
  socket.addEventListener("message", ({ data }) => {
    const message: { id?: number; method?: string; params?: { exceptionDetails: { text: string } } } =
      JSON.parse(String(data));
    if (message.id === 1) enabled.resolve();
    if (message.method === "Runtime.exceptionThrown")
      uncaught.push(message.params?.exceptionDetails.text ?? "");
  });
  socket.send(JSON.stringify({ id: 1, method: "Runtime.enable" }));
  await enabled.promise;
  return uncaught;
}

/** Maximum duration of a garbage collection in milliseconds. */
const COLLECTION_MS = 60_000;

/**
 * Returns the memory of an isolate after garbage collection, in bytes: objects and their buffers. `rouse` triggers any
 * activity, because workerd does not collect garbage in an idle isolate.
 */
export async function liveHeap(debuggerUrl: string, rouse: () => Promise<unknown>): Promise<number> {
  const inspector = await Inspector.connect(debuggerUrl);
  try {
    // Finalizers of the first collection may release more.
    for (let round = 0; round < 2; round += 1) {
      let collected = false;
      const collection = inspector.call("HeapProfiler.collectGarbage").finally(() => {
        collected = true;
      });
      const end = Date.now() + COLLECTION_MS;
      while (!collected) {
        if (Date.now() > end) throw new Error("the isolate collects no garbage");
        await rouse();
        await Promise.race([collection, sleep(100)]);
      }
    }
    const usage = await inspector.call("Runtime.getHeapUsage");
    return bytes(usage, "usedSize") + bytes(usage, "backingStorageSize");
  } finally {
    inspector.close();
  }
}

function bytes(usage: unknown, name: string): number {
  const value: unknown = typeof usage === "object" && usage !== null ? Reflect.get(usage, name) : undefined;
  return typeof value === "number" ? value : 0;
}
