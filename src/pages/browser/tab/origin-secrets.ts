import type { NamedText, PageSecrets } from "../../../core/ports/page-setup.ts";

/** A request of a page, for the decision whether it may have the page's secrets. */
export interface SecretCandidate {
  readonly url: string;
  /** True for the main frame and its document; false for frames in it and workers. */
  readonly isMainFrame: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Decides which requests of a page get its secrets: those of the main frame to the origin of the requested address, for
 * as long as the main frame has shown no other origin. Other frames get none, because documents of other origins could
 * use them there.
 */
export class OriginSecrets {
  readonly #origin: string;
  readonly #host: string;
  readonly #secrets: PageSecrets;
  readonly #clearCookies: () => Promise<unknown>;
  #isOver = false;

  /**
   * @param url the requested address of the page
   * @param clearCookies removes all cookies of the page's browser context
   */
  constructor(url: string, secrets: PageSecrets, clearCookies: () => Promise<unknown>) {
    const { origin, hostname } = new URL(url);
    this.#origin = origin;
    this.#host = hostname;
    this.#secrets = secrets;
    this.#clearCookies = clearCookies;
  }

  /**
   * The main frame is about to request a document. At another origin, all secrets end for good. Rejects if the cookies
   * cannot be removed; then the request must not be sent.
   */
  async admitNavigation(url: string): Promise<void> {
    if (this.#isOver || originOf(url) === this.#origin) return;
    this.#isOver = true;
    await this.#clearCookies();
  }

  /** Whether a request would carry the cookies to another port or scheme of the page's host: cookies know only hosts. */
  leaksCookies(url: string): boolean {
    if (this.#isOver || this.#secrets.cookies.length === 0 || !URL.canParse(url)) return false;
    const { hostname, origin } = new URL(url);
    return hostname === this.#host && origin !== this.#origin;
  }

  /** The headers of a request: its own, without the secrets or with them. */
  headersFor({ url, isMainFrame, headers }: SecretCandidate): NamedText[] {
    const secret = new Map(this.#secrets.headers.map(({ name, value }) => [name, value]));
    // The browser adds the cookies itself when it sends the request; those reported here may be outdated.
    const own = Object.entries(headers)
      .map(([name, value]) => ({ name, value }))
      .filter(({ name }) => name.toLowerCase() !== "cookie");
    const isAllowed = !this.#isOver && isMainFrame && originOf(url) === this.#origin;
    if (isAllowed)
      return [...own.filter(({ name }) => !secret.has(name.toLowerCase())), ...this.#secrets.headers];
    // After a redirect, the browser reports the headers of the request before.
    return own.filter(({ name, value }) => secret.get(name.toLowerCase()) !== value);
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}
