import type { Miniflare } from "miniflare";
import { ON_DENO } from "./runtime.ts";
import type { SandboxControl } from "./sandbox.ts";

/** Options for starting the gateway. */
export interface GatewayOptions {
  /** Environment variables of the deployment. They override those of development. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Environment variables of the sandbox, such as TOKEN_LIFETIME_SECONDS. */
  readonly sandboxVars?: Readonly<Record<string, string>>;
  /** Secrets that must not leave the gateway, in addition to those in `vars` and in requests (see `SecretWatch`). */
  readonly secrets?: readonly string[];
  /** Enables `evictPool` and `resizePools` (workerd only), and `clockAt`. */
  readonly evictable?: boolean;
  /** Enables `heap`. */
  readonly inspected?: boolean;
  /** Deno without the internal function that takes connections over, as from Deno 2.9.6 on. */
  readonly standardSockets?: boolean;
  /** Existing data folder, which is not deleted. Default: a new temporary folder. */
  readonly dataFolder?: string;
  /** The time that the gateway's clock shows at its start, in ms since 1970. Needs `evictable`. */
  readonly clockAt?: number;
}

/** Bindings whose object `main` can be evicted. */
export type EvictableBinding = "ACCOUNT_POOL" | "USAGE" | "HISTORY";

/** A running gateway with its sandbox. */
export interface Gateway {
  /** URL without a trailing slash. It changes after `restart` and `reset`. */
  readonly url: string;
  /** Sends a request to a path of the gateway, over real HTTP. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly sandbox: SandboxControl;
  /** Storage, bindings, scheduled events; not available on Deno. */
  readonly miniflare: Miniflare;
  /** Lines that the gateway has logged since its start. */
  logs(): readonly string[];
  /** Places where secrets left the gateway. If there are any, `close` fails. */
  leaks(): readonly string[];
  /**
   * Evicts the pool's object, as a migration or a deployment does: it loses its memory but keeps its storage. workerd only.
   */
  evictPool(): Promise<void>;
  /** Evicts the object of another binding. workerd only. */
  evict(binding: EvictableBinding): Promise<void>;
  /**
   * Changes the number of pool objects while requests are in progress; the isolate must know the same number. workerd only.
   */
  resizePools(count: number): Promise<void>;
  /** Number of the pool's rows for occupied slots; null if the pool is unavailable. */
  poolRows(): Promise<number | null>;
  /** Memory of the gateway's isolate after garbage collection, in bytes; only with `inspected`. */
  heap(): Promise<number>;
  /** Process ids of the runtime. */
  processes(): readonly number[];
  /** Stops the runtime and starts it again on the same storage, as a deployment or a crash does. */
  restart(): Promise<void>;
  /** The same with empty storage. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the gateway and the sandbox on a free port, on the runtime of this test run. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  // Both modules are large, so only the needed one is loaded.
  if (ON_DENO) return (await import("./deno.ts")).DenoGateway.start(options);
  return (await import("./miniflare.ts")).startMiniflare(options);
}
