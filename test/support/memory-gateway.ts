import { afterEach, beforeEach, expect, vi } from "vitest";
import { handleRequest } from "../../src/app.ts";
import type { Caller } from "../../src/core/auth/callers.ts";
import { RequestConfig } from "../../src/core/config/request-config.ts";
import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import { MemoryBudget } from "../../src/core/http/memory-budget.ts";
import type { HistoryRecord } from "../../src/core/ports/archive.ts";
import type { Context } from "../../src/core/ports/context.ts";
import type { Platform } from "../../src/core/ports/platform.ts";
import { KEY, type MemoryPlatformOptions, memoryPlatform } from "./memory-platform.ts";
import { ScriptedUpstream, type UpstreamRequest } from "./scripted-upstream.ts";
import { type Answers, isTurn, sessionsScript } from "./upstream-scripts.ts";
// Load lazy modules at the start, because a fake clock does not wait for the disk: a time limit could end first.
import "../../src/core/auth/admin-token.ts";
import "../../src/core/http/content-coding.ts";
import "../../src/core/routing/idempotency.ts";
import "../../src/core/routing/request-tags.ts";
import "../../src/gateway/captures/capture-recorder.ts";
import "../../src/gateway/credentials/modules.ts";
import "../../src/gateway/files/form-file.ts";
import "../../src/gateway/files/operations.ts";
import "../../src/gateway/files/related-file.ts";
import "../../src/gateway/files/unread-body.ts";
import "../../src/gateway/generation/account-states.ts";
import "../../src/gateway/generation/preparation/parse-request-controls.ts";
import "../../src/gateway/generation/routes/route-strategies.ts";
import "../../src/gateway/guardrails/guard.ts";
import "../../src/gateway/history/refused-requests.ts";
import "../../src/gateway/models/explain-unknown-model.ts";
import "../../src/gateway/models/known-models-data.ts";
import "../../src/gateway/passthrough/form-call.ts";
import "../../src/gateway/providers/passthrough/bearer-passthrough.ts";
import "../../src/gateway/providers/errors/connection-failure.ts";
import "../../src/gateway/providers/field-rule-modules.ts";
import "../../src/gateway/providers/file-modules.ts";
import "../../src/gateway/providers/passthrough/passthrough-error.ts";
import "../../src/gateway/response-cache/serve-cached.ts";
import "../../src/gateway/response-cache/serve-cached-call.ts";
import "../../src/records/opentelemetry/index.ts";
import "./route-groups.ts";

/** Options of a test gateway: its platform, and the answers of a provider of the sessions protocol. */
export type MemoryGatewayOptions = MemoryPlatformOptions & Answers;

/** Start time of each test in milliseconds since the epoch. */
export const START_OF_TIME = 1_800_000_000_000;

/** All work must end within this time, which is far beyond every timeout. */
const LONG_MS = 600_000;

const realImmediate = setImmediate;

/** Digests in progress on other threads. */
const digests = new Set<Promise<unknown>>();

/** Starts tracking digests. */
function watchDigests(): void {
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  vi.spyOn(subtle, "digest").mockImplementation((algorithm, data) => {
    const digesting = digest(algorithm, data);
    digests.add(digesting);
    const over = () => digests.delete(digesting);
    digesting.then(over, over);
    return digesting;
  });
}

/** Lets work outside the fake clock continue until none is left. */
async function finishPendingWork(): Promise<void> {
  do {
    await Promise.allSettled(digests);
    for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => realImmediate(resolve));
  } while (digests.size > 0);
}

/** Advances the fake clock. Due timers run in order. */
export async function pass(milliseconds: number): Promise<void> {
  await finishPendingWork();
  await vi.advanceTimersByTimeAsync(milliseconds);
  await finishPendingWork();
}

/** The program on an in-memory platform, with everything that tests inspect. */
export class MemoryGateway {
  readonly platform: Platform;
  readonly upstream: ScriptedUpstream;
  /** The log lines so far. */
  readonly lines: readonly JsonObject[];
  readonly #work = new Set<Promise<unknown>>();

  constructor(platform: Platform, upstream: ScriptedUpstream, lines: readonly JsonObject[]) {
    this.platform = platform;
    this.upstream = upstream;
    this.lines = lines;
  }

  /** Generation requests to the provider, oldest first. */
  get turns(): UpstreamRequest[] {
    return this.upstream.asked.filter(isTurn);
  }

  readonly waitUntil = (work: Promise<unknown>): void => {
    this.#work.add(work);
    const over = () => this.#work.delete(work);
    work.then(over, over);
  };

  /** Handles a request. Tracks its response and its background work. */
  request(path: string, init?: RequestInit): Promise<Response> {
    const answer = handleRequest(new Request(`http://gateway.test${path}`, init), {
      platform: this.platform,
      waitUntil: this.waitUntil,
      clientAddress: "192.0.2.1",
    });
    this.waitUntil(answer);
    return answer;
  }

  /** Posts JSON with the configured key. */
  post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${KEY}`);
    headers.set("content-type", "application/json");
    return this.request(path, { method: "POST", body: JSON.stringify(body), ...init, headers });
  }

  /** Returns the context of a request that reached a handler. */
  context(init: RequestInit = {}): Context {
    const request = new Request("http://gateway.test/v1/chat/completions", init);
    const config = new RequestConfig(this.platform.configuration, this.waitUntil);
    return {
      platform: this.platform,
      clientAddress: "192.0.2.1",
      waitUntil: this.waitUntil,
      request,
      url: new URL(request.url),
      requestId: "req_test",
      uniqueRequestId: crypto.randomUUID(),
      startedAt: this.platform.now(),
      facts: {},
      requestLimits: {},
      refusedRequest: {},
      recordOutcome: () => undefined,
      keepUntil: () => undefined,
      serveRequest: (inner, connection) =>
        handleRequest(inner, {
          platform: this.platform,
          waitUntil: this.waitUntil,
          clientAddress: "192.0.2.1",
          ...(connection === undefined ? {} : { connection }),
        }),
      memory: new MemoryBudget(this.platform.variables.bodyBudgetBytes).createReservation(),
      config: () => config.read(),
      lookUpConfig: (name) => config.lookUp(name),
      ensureConfigVersion: (version) => config.ensureVersion(version),
    };
  }

  /** Advances the clock until all background work has ended. */
  async settle(): Promise<void> {
    const end = Date.now() + LONG_MS;
    await finishPendingWork();
    while (this.#work.size > 0) {
      if (Date.now() > end) throw new Error(`${this.#work.size} pieces of work behind answers never end`);
      await pass(250);
    }
  }

  /** Returns the archived generations, newest first, after all background work has ended. */
  async history(): Promise<HistoryRecord[]> {
    await this.settle();
    const { items } = await this.platform.archive.listHistory({ offset: 0, count: 100, q: "" });
    const records = await Promise.all(items.map(({ id }) => this.platform.archive.readHistory(id)));
    return records.filter((record) => record !== null);
  }

  /** Asserts that everything was released: no occupied slot, no waiting request. */
  async expectIdle(): Promise<void> {
    await this.settle();
    expect(await this.platform.accounts.getStatus()).toMatchObject({ in_use: 0, waiting: 0, leases: [] });
  }
}

/** A caller with the configured key; `target` pins an account. */
export function managed(target: string | null = null): Caller {
  return { mode: "managed", credential: KEY, owner: "owner-of-the-key", key: null, targetAccount: target };
}

/** A caller with a token of the provider. */
export function passThrough(token = "a-token-of-the-provider"): Caller {
  return {
    mode: "own-token",
    credential: token,
    owner: "owner-of-the-token",
    key: null,
    targetAccount: null,
  };
}

/** Creates gateways for tests. */
export type CreateGateway = (options?: MemoryGatewayOptions) => Promise<MemoryGateway>;

/**
 * Provides in-memory gateways for the tests of a file, with a fake clock. After each test no slot may be occupied and no
 * timer may be left.
 */
export function useMemoryGateway(): CreateGateway {
  const gateways: MemoryGateway[] = [];
  const lines: JsonObject[] = [];

  beforeEach(() => {
    vi.useFakeTimers({ now: START_OF_TIME });
    lines.length = 0;
    watchDigests();
    vi.spyOn(console, "log").mockImplementation((line: unknown) => {
      const fields: unknown = JSON.parse(String(line));
      if (isObject(fields)) lines.push(fields);
    });
  });

  afterEach(async () => {
    try {
      for (const gateway of gateways.splice(0)) await gateway.expectIdle();
      // The pool's own timers end once it is idle.
      await pass(LONG_MS);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
  });

  return async (options = {}) => {
    const upstream = options.upstream ?? new ScriptedUpstream(sessionsScript(options));
    const platform = await memoryPlatform({ ...options, upstream });
    const gateway = new MemoryGateway(platform, upstream, lines);
    gateways.push(gateway);
    return gateway;
  };
}
