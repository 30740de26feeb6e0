import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { FaultUpstream, type Plan, type Received } from "../support/fault-upstream.ts";
import type { Gateway, GatewayOptions } from "../support/gateway.ts";
import { SmallDisk } from "./disk-faults.ts";

export type Runtime = "workers" | "deno";

/** Result of one request of a campaign. */
export interface RequestResult {
  readonly status: number;
  /** The whole text, or the received part if the answer broke off. */
  readonly text: string;
  /** The connection broke, or the client disconnected. */
  readonly broken: boolean;
}

/** Options of a part's gateway. */
export interface GatewayUnderTestOptions {
  readonly driver: "sessions" | "openai";
  readonly accounts: number;
  readonly perAccount: number;
  readonly plan: Plan;
  readonly vars?: Readonly<Record<string, string>>;
  /** Keys besides `sk-dev`, in the form of the configuration. */
  readonly keys?: readonly { readonly key: string; readonly id: string; readonly limits?: object }[];
  /** Further configuration, such as prices. */
  readonly config?: object;
  /** Number of stored history records; default: 100. */
  readonly records?: number;
  /** On Deno: size in megabytes of a separate file system for the data folder, if mounting is possible. */
  readonly diskMegabytes?: number;
  /** The configuration is stored and editable; its accounts sign in. */
  readonly editable?: boolean;
  /** Enables `heap`. */
  readonly inspected?: boolean;
}

/** Options of one request of a campaign. */
export interface RequestOptions {
  readonly style?: keyof typeof PATHS;
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  /** Default: `sk-dev`. */
  readonly key?: string;
  /** Request id in history and log. */
  readonly id?: string;
}

/** Counts that must be 0 at the end. */
export interface Leaks {
  readonly slots: number;
  readonly waiters: number;
  /** Generations that the upstream is still answering. */
  readonly upstream: number;
  /** Provider sessions that were created and not deleted. */
  readonly sessions: number;
  /** History records whose status is still `streaming`. */
  readonly records: number;
  /** The pool's rows for occupied slots. */
  readonly rows: number;
  /** Connections of the gateway's processes, beyond the initial number. */
  readonly sockets: number;
}

const PATHS = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

const SETTLE_MS = 20_000;

/** A gateway with its upstream and checks of both. */
export class GatewayUnderTest {
  readonly runtime: Runtime;
  readonly gateway: Gateway;
  readonly upstream: FaultUpstream;
  /** The disk of the data folder, if the part uses one. */
  readonly disk: SmallDisk | null;
  readonly #options: GatewayUnderTestOptions;
  #sockets = 0;

  private constructor(
    runtime: Runtime,
    options: GatewayUnderTestOptions,
    gateway: Gateway,
    upstream: FaultUpstream,
    disk: SmallDisk | null,
  ) {
    this.runtime = runtime;
    this.disk = disk;
    this.gateway = gateway;
    this.upstream = upstream;
    this.#options = options;
  }

  static async start(runtime: Runtime, options: GatewayUnderTestOptions): Promise<GatewayUnderTest> {
    const { driver, accounts, perAccount, plan, vars, editable = false, inspected = false } = options;
    const upstream = await FaultUpstream.start(plan);
    const logins = Array.from({ length: accounts }, (_, n) =>
      driver === "sessions"
        ? { email: `account-${n}@sandbox.test`, password: "sandbox" }
        : { token: `backend-key-${n}` },
    );
    const config = {
      keys: ["sk-dev"],
      api_keys: options.keys ?? [],
      accounts: logins,
      auto_delete: { mode: driver === "sessions" ? "single" : "none" },
      runtime: { account_max_inflight: perAccount, account_max_queue: 1_000 },
      history: { limit: options.records ?? 100 },
      ...options.config,
    };
    const disk = options.diskMegabytes === undefined ? null : new SmallDisk(options.diskMegabytes);
    const settings: GatewayOptions = {
      evictable: true,
      inspected,
      ...(disk === null ? {} : { dataFolder: disk.path }),
      vars: {
        PROVIDER_DRIVER: driver,
        PROVIDER_BASE_URL: upstream.url + (driver === "openai" ? "/v1" : ""),
        KEEP_ALIVE_MS: "300",
        ...(editable ? {} : { GATEWAY_CONFIG_JSON: JSON.stringify(config) }),
        ...vars,
      },
    };
    const gateway =
      runtime === "deno"
        ? await (await import("../support/deno.ts")).DenoGateway.start(settings)
        : await (await import("../support/miniflare.ts")).startMiniflare(settings);
    const site = new GatewayUnderTest(runtime, options, gateway, upstream, disk);
    // Exclude one-time effects of the first request, such as tokens.
    await site.ask();
    await sleep(500);
    upstream.clear();
    site.#sockets = site.sockets();
    return site;
  }

  /** Sends one request. Reads the answer to its end and does not check its content. */
  async ask({
    style = "chat",
    stream = false,
    signal,
    key = "sk-dev",
    id,
  }: RequestOptions = {}): Promise<RequestResult> {
    const messages = [{ role: "user", content: "hello" }];
    const body = style === "responses" ? { input: "hello" } : { messages, max_tokens: 1_000 };
    let status = 0;
    let text = "";
    try {
      const response = await fetch(this.gateway.url + PATHS[style], {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          ...(id === undefined ? {} : { "x-request-id": id }),
        },
        body: JSON.stringify({ model: "provider-v4-flash-nothinking", stream, ...body }),
        ...(signal === undefined ? {} : { signal }),
      });
      status = response.status;
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
      return { status, text, broken: false };
    } catch {
      return { status, text, broken: true };
    }
  }

  /** Sends a request that needs neither a slot nor storage. */
  async healthy(): Promise<void> {
    await (await fetch(`${this.gateway.url}/healthz`)).text();
  }

  /** Calls the admin API. */
  async admin(path: string, method = "GET", body?: unknown): Promise<Response> {
    return fetch(this.gateway.url + path, {
      method,
      headers: { authorization: "Bearer admin", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Memory of the gateway's processes in MB. */
  memory(): number {
    const sizes = this.gateway.processes().map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    });
    return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024);
  }

  /** Memory of the gateway's isolate after garbage collection, in MB. */
  async heap(): Promise<number> {
    return (await this.gateway.heap()) / 2 ** 20;
  }

  /** Number of open sockets of the gateway's processes. */
  sockets(): number {
    let count = 0;
    for (const pid of this.gateway.processes()) {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        try {
          if (readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")) count += 1;
        } catch {
          // The socket was closed meanwhile.
        }
      }
    }
    return count;
  }

  /** Resets the initial number of sockets, because the processes are new. */
  forgetSockets(): void {
    this.#sockets = Number.POSITIVE_INFINITY;
  }

  async leaks(): Promise<Leaks> {
    const queue: { in_use: number; waiting: number } = await (await this.admin("/admin/queue/status")).json();
    const history: { items: { status: string }[] } = await (
      await this.admin("/admin/chat-history?page_size=100")
    ).json();
    return {
      slots: queue.in_use,
      waiters: queue.waiting,
      upstream: this.upstream.open,
      sessions: this.#options.driver === "sessions" ? openSessions(this.upstream.requests) : 0,
      records: history.items.filter(({ status }) => status === "streaming").length,
      rows: (await this.gateway.poolRows()) ?? -1,
      sockets: Math.max(0, this.sockets() - this.#sockets - SPARE_SOCKETS),
    };
  }

  /**
   * Returns the leaks after everything has settled: counts that are not 0 and have not decreased for a while. On Workers,
   * disconnected callers of whole answers are only noticed when it is their turn, and there may be hundreds.
   */
  async settled(): Promise<Leaks> {
    let least = Number.POSITIVE_INFINITY;
    let end = 0;
    for (;;) {
      const leaks = await this.leaks();
      const left = Object.values(leaks).reduce((sum, count) => sum + count, 0);
      if (left < least) {
        least = left;
        end = Date.now() + SETTLE_MS;
      }
      if (left === 0 || Date.now() > end) return leaks;
      await sleep(250);
    }
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.upstream.close();
    this.disk?.close();
  }
}

/** Idle keep-alive connections to clients and to the upstream: at most the parallel requests of a part. */
const SPARE_SOCKETS = 64;

function openSessions(requests: readonly Received[]): number {
  let open = 0;
  for (const { method, path, completed } of requests) {
    if (path === "/api/sessions" && method === "POST" && completed) open += 1;
    else if (/^\/api\/sessions\/[^/]+$/.test(path) && method === "DELETE") open -= 1;
  }
  return open;
}

/** Maximum delay until the upstream notices the end of an exchange, in milliseconds. */
const NOTICE_MS = 250;

/**
 * Returns how many slots beyond `limit` an account (identified by its token) used at the same time, and a line for each
 * such event.
 */
export function grantedTwice(upstream: FaultUpstream, limit: number): { beyond: number; lines: string[] } {
  const events = upstream.generations.flatMap((received) => {
    const { receivedAt, closedAt = Number.POSITIVE_INFINITY } = received;
    const until = closedAt - NOTICE_MS;
    if (until <= receivedAt) return [];
    return [
      { received, at: receivedAt, begins: true },
      { received, at: until, begins: false },
    ];
  });
  events.sort((one, other) => one.at - other.at || Number(one.begins) - Number(other.begins));
  const open = new Map<string, Set<Received>>();
  const lines: string[] = [];
  let beyond = 0;
  for (const { received, begins } of events) {
    const account = received.headers.authorization ?? "";
    const those = open.get(account) ?? new Set();
    open.set(account, those);
    if (!begins) {
      those.delete(received);
      continue;
    }
    those.add(received);
    beyond = Math.max(beyond, those.size - limit);
    if (those.size <= limit) continue;
    const told = [...those].map(({ receivedAt, closedAt }) => `${receivedAt} to ${closedAt ?? "now"}`);
    lines.push(`${account.slice(-2)}: ${told.join(", ")}`);
  }
  return { beyond, lines };
}

/** Mulberry32: random numbers determined by the seed. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs `work` `count` times, with `atOnce` parallel runs. */
export async function times(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const one = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, one));
}

/** Runs `work` repeatedly, with `atOnce` parallel runs, until `done` returns true. */
export async function until(done: () => boolean, atOnce: number, work: () => Promise<void>): Promise<void> {
  const one = async () => {
    while (!done()) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/**
 * How an answer ended: `whole`, or a reported `failure`. Anything else is `wrong`, including an internal error of the
 * gateway.
 */
export function ending({ status, text, broken }: RequestResult): "whole" | "failure" | "wrong" {
  if (broken || status === 500 || status === 0) return "wrong";
  if (status !== 200) return "failure";
  if (!/^(?:data|event|:)/m.test(text)) return text.trimEnd().endsWith("}") ? "whole" : "wrong";
  if (/"error":\s*\{|event: (?:error|response\.failed)/.test(text)) return "failure";
  return /\[DONE\]|message_stop|response\.completed/.test(text) ? "whole" : "wrong";
}
