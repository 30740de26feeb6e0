import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { FailureRules } from "../../../core/ports/page-setup.ts";
import { evaluateInPage } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";

/** Maximum characters of an error or address in an answer, and maximum time to read an error, milliseconds. */
const MAX_TEXT = 300;
const READ_MS = 1_000;

/**
 * Keeps the first uncaught exception, unhandled rejection or `console.error` of a page as text. `name` is a global
 * function that returns it. A page that tampers with it deceives its own caller only.
 */
function createErrorScript(name: string): string {
  return `(() => {
  let first = null;
  const keep = (value) => {
    try { first ??= String(value).slice(0, ${MAX_TEXT}); } catch { first = "error"; }
  };
  addEventListener("error", (event) => { if (event instanceof ErrorEvent) keep(event.message); });
  addEventListener("unhandledrejection", ({ reason }) => keep(reason));
  console.error = (value) => keep(value);
  Object.defineProperty(globalThis, "${name}", { value: () => first });
})()`;
}

/** Watches the load of one page for what its caller counts as a failure. */
export class FailureMonitor {
  readonly #tab: Tab;
  readonly #rules: FailureRules;
  readonly #errorFunction = `first${crypto.randomUUID().replaceAll("-", "")}`;
  /** The first failed resource of the shown document. */
  #resource: string | null = null;

  constructor(tab: Tab, rules: FailureRules) {
    this.#tab = tab;
    this.#rules = rules;
  }

  /** Starts watching. Call it before the load. */
  async start(): Promise<void> {
    const { session, policy } = this.#tab;
    const { resources, consoleErrors } = this.#rules;
    if (!resources && !consoleErrors) return;
    session.on("Page.frameNavigated", ({ frame }) => {
      // The failures of an earlier document are not those of this one.
      if (frame.id === policy.mainFrame) this.#resource = null;
    });
    if (resources) this.#watchResources();
    if (!consoleErrors) return;
    const source = createErrorScript(this.#errorFunction);
    await session.send("Page.addScriptToEvaluateOnNewDocument", { source });
  }

  /** Throws GatewayError 422 that names the rule, if the load counts as failed. */
  async assertSucceeded(): Promise<void> {
    const status = this.#tab.frame.response?.status ?? 200;
    if (this.#rules.statuses.some(({ from, to }) => status >= from && status <= to))
      throw pageFailed(`The page was answered with status ${status}.`, "failOnStatus");
    if (this.#resource !== null)
      throw pageFailed(`The page could not load ${this.#resource}.`, "failOnResourceLoadingFailed");
    if (!this.#rules.consoleErrors) return;
    const error = await evaluateInPage(this.#tab.session, `${this.#errorFunction}()`, READ_MS);
    if (typeof error === "string")
      throw pageFailed(`The page has an error: ${error.slice(0, MAX_TEXT)}`, "failOnConsoleErrors");
  }

  #watchResources(): void {
    const { session, policy } = this.#tab;
    /** Addresses of the requests, without those of the page itself. */
    const urls = new Map<string, string>();
    const fail = (requestId: string) => {
      const url = urls.get(requestId);
      if (url !== undefined) this.#resource ??= url.slice(0, MAX_TEXT);
    };
    session.on("Network.requestWillBeSent", ({ requestId, request, frameId, type }) => {
      if (type !== "Document" || frameId !== policy.mainFrame) urls.set(requestId, request.url);
    });
    session.on("Network.responseReceived", ({ requestId, response }) => {
      if (response.status >= 400) fail(requestId);
    });
    session.on("Network.loadingFailed", ({ requestId, canceled, blockedReason }) => {
      // What this program or the caller blocks is no failure of the page.
      if (canceled !== true && blockedReason !== "inspector") fail(requestId);
    });
  }
}

function pageFailed(message: string, param: string): GatewayError {
  return new GatewayError(422, message, { code: "page_failed", param });
}
