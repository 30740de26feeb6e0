import { DurableObject } from "cloudflare:workers";
import type { Call } from "./call.ts";
import { SandboxBackend as DeskRules } from "./desk.ts";
import { SandboxProvider } from "./provider.ts";
import type { Reply } from "./replies.ts";
import type { KeyValueStore } from "./shelves.ts";

interface SandboxEnv {
  readonly SANDBOX_DESK: DurableObjectNamespace<SandboxDesk>;
  /** Token lifetime in seconds, as text. Default: one day. */
  readonly TOKEN_LIFETIME_SECONDS?: string;
}

/** Stores the sandbox's state for all isolates, also across restarts. Streams run in the Worker, not in this object. */
export class SandboxDesk extends DurableObject<SandboxEnv> {
  readonly #rules = new DeskRules(
    {
      sessions: new DurableStore(this.ctx.storage.kv, "session:"),
      files: new DurableStore(this.ctx.storage.kv, "file:"),
      turns: new DurableStore(this.ctx.storage.kv, "turn:"),
      counters: new DurableStore(this.ctx.storage.kv, "counter:"),
      marks: new DurableStore(this.ctx.storage.kv, "mark:"),
      streams: new DurableStore(this.ctx.storage.kv, "stream:"),
    },
    { now: Date.now, tokenLifetimeSeconds: Number(this.env.TOKEN_LIFETIME_SECONDS ?? 86_400) },
  );

  handle(call: Call): Reply {
    return this.#rules.handle(call);
  }

  closed(streamId: string): void {
    this.#rules.closed(streamId);
  }
}

class DurableStore<T> implements KeyValueStore<T> {
  readonly #storage: SyncKvStorage;
  readonly #prefix: string;

  constructor(storage: SyncKvStorage, prefix: string) {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  get(key: string): T | undefined {
    return this.#storage.get<T>(this.#prefix + key);
  }

  put(key: string, value: T): void {
    this.#storage.put(this.#prefix + key, value);
  }

  delete(key: string): void {
    this.#storage.delete(this.#prefix + key);
  }

  *entries(): Iterable<[string, T]> {
    for (const [key, value] of this.#storage.list<T>({ prefix: this.#prefix })) {
      yield [key.slice(this.#prefix.length), value];
    }
  }
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const desk = env.SANDBOX_DESK.get(env.SANDBOX_DESK.idFromName("desk"));
    const provider = new SandboxProvider({
      desk: {
        handle: (call) => desk.handle(call),
        closed: (streamId) => desk.closed(streamId),
      },
      waitUntil: (work) => ctx.waitUntil(work),
    });
    return provider.fetch(request);
  },
} satisfies ExportedHandler<SandboxEnv>;
