import { sleep } from "../../../core/ports/clock.ts";
import type { CaptureRequest } from "../../../core/ports/page-browser.ts";
import type { PageLimits } from "../../../core/variables/variables.ts";
import { evaluateIsolated, settlesWithin } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";
import { clickElement, hideElements, waitForVisible } from "./elements.ts";
import { MomentWaiter } from "./moment.ts";
import {
  createLazyLoadScript,
  createScrollScript,
  EXPAND_SCROLL_AREA,
  HIDE_BANNERS,
} from "./page-scripts.ts";

/** Maximum wait for an element to click on, milliseconds. */
const CLICK_WAIT_MS = 3_000;
/** Maximum duration of a click, and the time after it in which a navigation can begin, milliseconds. */
const CLICK_MS = 3_000;
const AFTER_CLICK_MS = 250;
const BANNERS_MS = 1_000;
const SCROLL_MS = 1_000;
const LAZY_MS = 6_000;
/** Clicks, fragments of addresses and the page's own scripts scroll, but captures begin at the top. */
const SCROLL_TO_TOP = 'scrollTo({ top: 0, left: 0, behavior: "instant" })';

/**
 * Prepares a page for its capture. Each click happens only once, even if it makes the page navigate to another
 * document.
 */
export class PagePreparation {
  readonly #tab: Tab;
  readonly #request: CaptureRequest;
  readonly #limits: PageLimits;
  readonly #clicks: string[];
  readonly #moment: MomentWaiter;

  constructor(tab: Tab, request: CaptureRequest, limits: PageLimits) {
    this.#tab = tab;
    this.#request = request;
    this.#limits = limits;
    this.#clicks = [...request.click];
    this.#moment = new MomentWaiter(tab, request, limits);
  }

  /** Prepares the shown document. Throws GatewayError, or the signal's reason if the page navigates away. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { blockCookieBanners, click, hide, scroll, waitForSelector, waitForText } = this.#request;
    // The delay starts after the clicks and after the awaited content, if there are any.
    const hasToWait = click.length > 0 || waitForSelector !== null || waitForText !== null;
    if (!hasToWait) this.#moment.startDelay();
    if (blockCookieBanners) await evaluateIsolated(this.#tab, HIDE_BANNERS, BANNERS_MS);
    if (hide.length > 0) await hideElements(this.#tab, hide);
    await this.#clickElements(signal);
    await this.#moment.waitForContent(signal);
    await this.#scrollToTop();
    await this.#moment.settle(signal);
    if (this.#request.full && this.#request.detectFullHeight)
      await evaluateIsolated(this.#tab, EXPAND_SCROLL_AREA, SCROLL_MS);
    if (scroll) {
      await evaluateIsolated(this.#tab, createLazyLoadScript(this.#limits.pageHeight), LAZY_MS);
      await this.#moment.settle(signal);
    }
    await this.#scrollToElement(signal);
    await this.#moment.waitForDelay(signal);
    if (this.#request.scrollTo === null) await this.#scrollToTop();
  }

  async #scrollToTop(): Promise<void> {
    await evaluateIsolated(this.#tab, SCROLL_TO_TOP, SCROLL_MS);
  }

  /** Scrolls to the requested element. Throws GatewayError 404 if no visible element matches. */
  async #scrollToElement(signal: AbortSignal): Promise<void> {
    const { scrollTo } = this.#request;
    if (scrollTo === null) return;
    await waitForVisible(this.#tab, { selector: scrollTo, param: "scrollTo", waitMs: CLICK_WAIT_MS }, signal);
    await evaluateIsolated(this.#tab, createScrollScript(scrollTo), SCROLL_MS);
    await this.#moment.settle(signal);
  }

  async #clickElements(signal: AbortSignal): Promise<void> {
    for (let [selector] = this.#clicks; selector !== undefined; [selector] = this.#clicks) {
      const query = { selector, param: "click", waitMs: CLICK_WAIT_MS };
      const element = await waitForVisible(this.#tab, query, signal);
      signal.throwIfAborted();
      this.#clicks.shift();
      await settlesWithin(clickElement(this.#tab.session, element), CLICK_MS);
      await sleep(AFTER_CLICK_MS);
      signal.throwIfAborted();
    }
  }
}
