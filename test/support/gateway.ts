import type { Miniflare } from "miniflare";
import { ON_DENO } from "./runtime.ts";
import type { SandboxControl } from "./sandbox.ts";

/** How the gateway is to be started. */
export interface GatewayOptions {
  /** Variables of the deployment, over those of development. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Variables of the sandbox, such as TOKEN_LIFETIME_SECONDS. */
  readonly sandboxVars?: Readonly<Record<string, string>>;
  /** What must not leave the gateway, besides what is in `vars` and in requests (see `SecretWatch`). */
  readonly secrets?: readonly string[];
  /** Whether `evictPool`, `resizePools` (workerd only) and `setClock` are wanted. */
  readonly evictable?: boolean;
  /** Whether `heap` is wanted. */
  readonly inspected?: boolean;
  /** The folder of all stored data; it exists and stays. A new temporary folder unless given. */
  readonly dataFolder?: string;
  /** The time that the gateway's clock shows at its start, in ms since 1970. Needs `evictable`. */
  readonly clockAt?: number;
}

/** Bindings whose object named `main` can be made to lose its memory. */
export type EvictableBinding = "ACCOUNT_POOL" | "USAGE" | "HISTORY";

/** A running gateway with its sandbox. */
export interface Gateway {
  /** The address without a slash at its end; another one after `restart` and `reset`. */
  readonly url: string;
  /** A request to a path of the gateway, over real HTTP. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly sandbox: SandboxControl;
  /** Storage, bindings, scheduled events; there is none on Deno. */
  readonly miniflare: Miniflare;
  /** The lines that the gateway has written since it was started. */
  logs(): readonly string[];
  /** Where credentials were seen that must not leave it. If there are any, `close` fails. */
  leaks(): readonly string[];
  /** The pool's object loses its memory, as when it is moved or a new version is deployed; its storage stays. workerd only. */
  evictPool(): Promise<void>;
  /** The same of the object behind another binding. workerd only. */
  evict(binding: EvictableBinding): Promise<void>;
  /** Changes how many pool objects there are while requests are under way; the isolate must know of as many. workerd only. */
  resizePools(count: number): Promise<void>;
  /** Sets the gateway's clock forwards or back. */
  setClock(byMs: number): Promise<void>;
  /** Rows that the pool keeps of slots in use; null when it cannot be asked. */
  poolRows(): Promise<number | null>;
  /** What the gateway's isolate holds once its garbage has been collected, in bytes; only when started with `inspected`. */
  heap(): Promise<number>;
  /** The runtime's processes. */
  processes(): readonly number[];
  /** Ends the runtime and starts it again on the same storage, as a deployment or a crash does. */
  restart(): Promise<void>;
  /** The same with empty storage. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the gateway and the sandbox on a free port, on the runtime that the tests are run for. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  // Each brings much of its own: only what is needed is loaded.
  if (ON_DENO) return (await import("./deno.ts")).DenoGateway.start(options);
  return (await import("./miniflare.ts")).startMiniflare(options);
}
