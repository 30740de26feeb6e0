import { DurableObject } from "cloudflare:workers";
import type { Browser } from "@cloudflare/puppeteer";
import blockLists from "../dist/block-lists.txt";
import { once } from "../src/core/encoding/once.ts";
import type {
  CaptureOutcome,
  CaptureRequest,
  VisitOutcome,
  VisitRequest,
} from "../src/core/ports/page-browser.ts";
import type { BrowserCounts, BrowserService } from "../src/pages/browser/browser-service.ts";
import { type RpcResult, toRpcResult } from "../src/pages/browser/rpc-result.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { getVariables } from "../src/runtime/cloudflare/variables.ts";

const SESSION_KEY = "session";

/** Holds one warm browser; the work with it is in `src/pages/browser/`. */
export class BrowserSession extends DurableObject<Env> {
  /** Loaded lazily: most isolates never use a browser, and start faster without its code. */
  readonly #service = once(() => this.#load());

  /** The requests whose caller may leave, by their tickets. */
  readonly #tickets = new Map<string, AbortController>();

  /** @param ticket for `leave`, unique; null: the caller stays */
  capture(
    request: CaptureRequest,
    client: string,
    ticket: string | null,
  ): Promise<RpcResult<CaptureOutcome>> {
    return this.#run(ticket, (service, signal) => service.capture(request, client, signal));
  }

  /** @param ticket for `leave`, unique; null: the caller stays */
  visit(request: VisitRequest, client: string, ticket: string | null): Promise<RpcResult<VisitOutcome>> {
    return this.#run(ticket, (service, signal) => service.visit(request, client, signal));
  }

  /** Nobody waits for the request with this ticket any more. */
  async leave(ticket: string): Promise<void> {
    this.#tickets.get(ticket)?.abort();
  }

  /** How busy the browser is and was; tests and load campaigns use it to wait for its tabs. */
  async counts(): Promise<BrowserCounts> {
    return (await this.#service()).counts;
  }

  async #run<T>(
    ticket: string | null,
    work: (service: BrowserService, signal: AbortSignal) => Promise<T>,
  ): Promise<RpcResult<T>> {
    const left = new AbortController();
    if (ticket !== null) this.#tickets.set(ticket, left);
    try {
      return await toRpcResult(this.#service().then((service) => work(service, left.signal)));
    } finally {
      if (ticket !== null) this.#tickets.delete(ticket);
    }
  }

  async #load(): Promise<BrowserService> {
    const { BrowserService } = await import("../src/pages/browser/browser-service.ts");
    const { pages: limits } = getVariables(this.env);
    return new BrowserService({ launch: (forceNew) => this.#launch(forceNew), limits, blockLists });
  }

  /** Reconnects to the browser that this object used before a restart if it still runs; otherwise launches a new one. */
  async #launch(forceNew: boolean): Promise<Browser> {
    const { BROWSER: binding } = this.env;
    if (binding === undefined) throw new Error("no browser is bound");
    const { kv } = this.ctx.storage;
    const { default: puppeteer } = await import("@cloudflare/puppeteer");
    const sessionId = forceNew ? undefined : kv.get<string>(SESSION_KEY);
    const existing =
      sessionId === undefined ? null : await puppeteer.connect(binding, sessionId).catch(() => null);
    const browser =
      existing ?? (await puppeteer.launch(binding, { keep_alive: getVariables(this.env).pages.keepAliveMs }));
    kv.put(SESSION_KEY, browser.sessionId());
    return browser;
  }
}
