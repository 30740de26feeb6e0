import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { PageSetup } from "../../../core/ports/page-setup.ts";
import { isBrowserGone } from "../failures.ts";
import { evaluateIsolated, settlesWithin } from "../tab/evaluate.ts";
import { OriginSecrets } from "../tab/origin-secrets.ts";
import type { Tab } from "../tab/tab.ts";
import { FailureMonitor } from "./failure-monitor.ts";

/** Maximum duration of adding styles, and of a script of the caller, milliseconds. */
const STYLES_MS = 2_000;
const SCRIPT_MS = 10_000;
/** Maximum characters of a script's error in an answer. */
const MAX_ERROR = 300;

/** What a caller changes about one page, applied to the tab that loads it. */
export class AppliedSetup {
  readonly #tab: Tab;
  readonly #setup: PageSetup;
  readonly #failures: FailureMonitor;
  readonly #scripts: string[];

  constructor(tab: Tab, setup: PageSetup) {
    this.#tab = tab;
    this.#setup = setup;
    this.#failures = new FailureMonitor(tab, setup.failOn);
    this.#scripts = [...setup.scripts];
  }

  /** Prepares the tab to load a page. */
  async prepareLoad(url: string): Promise<void> {
    const { session, policy } = this.#tab;
    const { html, secrets, blockedTypes } = this.#setup;
    policy.setBlockedTypes(blockedTypes);
    if (html !== null) policy.setSentDocument(html);
    if (secrets !== null) {
      const clearCookies = () => session.send("Network.clearBrowserCookies");
      policy.setSecrets(new OriginSecrets(url, secrets, clearCookies));
      await this.#setCookies(url, secrets.cookies);
    }
    await this.#failures.start();
  }

  /**
   * Adds the styles to the shown document, and runs the scripts in it, each only once. Throws GatewayError 400 for a
   * script that fails, or the signal's reason if the page navigates away.
   */
  async changeDocument(signal: AbortSignal): Promise<void> {
    const { styles } = this.#setup;
    if (styles.length > 0) await evaluateIsolated(this.#tab, createStyleScript(styles), STYLES_MS);
    for (let [script] = this.#scripts; script !== undefined; [script] = this.#scripts) {
      signal.throwIfAborted();
      this.#scripts.shift();
      await this.#runScript(script);
    }
    signal.throwIfAborted();
  }

  /** Throws GatewayError 422 if the load counts as failed. */
  assertSucceeded(): Promise<void> {
    return this.#failures.assertSucceeded();
  }

  /** Sets cookies of the page's host alone, which requests that other sites cause do not carry. */
  async #setCookies(url: string, cookies: readonly { name: string; value: string }[]): Promise<void> {
    const { session } = this.#tab;
    const secure = url.startsWith("https:");
    const attributes = { url, path: "/", secure, sameSite: "Strict" } as const;
    for (const { name, value } of cookies) {
      // Refused for example if the name begins with `__Secure-`, and the page is no HTTPS page.
      await session.send("Network.setCookie", { name, value, ...attributes }).catch((error: unknown) => {
        if (isBrowserGone(error)) throw error;
        throw invalidRequest("The browser does not accept a cookie.", "cookies");
      });
    }
  }

  /** Runs a script in the page's own world. One that takes too long goes on while the capture does. */
  async #runScript(expression: string): Promise<void> {
    const { session, whenCutShort } = this.#tab;
    let failure: string | undefined;
    const running = session
      .send("Runtime.evaluate", { expression, awaitPromise: true, replMode: true })
      .then(({ exceptionDetails }) => {
        failure = exceptionDetails?.exception?.description ?? exceptionDetails?.text;
      });
    await Promise.race([settlesWithin(running, SCRIPT_MS), whenCutShort]);
    if (failure !== undefined)
      throw invalidRequest(`A script fails: ${failure.slice(0, MAX_ERROR)}`, "scripts");
  }
}

/** Uses an adopted style sheet: unlike a style element, it is not subject to the page's content security policy. */
function createStyleScript(styles: readonly string[]): string {
  return `(() => {
  for (const text of ${JSON.stringify(styles)}) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }
})()`;
}
