import { sleep } from "../../../core/ports/clock.ts";
import type { LoadMoment } from "../../../core/ports/page-browser.ts";
import type { PageLimits } from "../../../core/variables/variables.ts";

import type { Tab } from "../tab/tab.ts";
import { waitForPresence, waitForText } from "./elements.ts";
import { endAnimations, waitUntilStill } from "./settle.ts";

/** Maximum wait for an element or a text, milliseconds. */
const PRESENCE_WAIT_MS = 10_000;

/** Waits for the requested moment of one page; its delay goes on when the page navigates to another document. */
export class MomentWaiter {
  readonly #tab: Tab;
  readonly #moment: LoadMoment;
  readonly #limits: PageLimits;
  /** Start of the requested delay, milliseconds since the epoch. */
  #delayStart: number | undefined;

  constructor(tab: Tab, moment: LoadMoment, limits: PageLimits) {
    this.#tab = tab;
    this.#moment = moment;
    this.#limits = limits;
  }

  /** Starts the delay, unless it has started. */
  startDelay(): void {
    this.#delayStart ??= Date.now();
  }

  /** Waits for the requested element and text. Throws GatewayError 404, or the signal's reason. */
  async waitForContent(signal: AbortSignal): Promise<void> {
    const { waitForSelector, waitForText: text } = this.#moment;
    const waitMs = Math.min(PRESENCE_WAIT_MS, this.#limits.navigationMs);
    if (waitForSelector !== null) {
      const query = { selector: waitForSelector, param: "waitForSelector", waitMs };
      await waitForPresence(this.#tab, query, signal);
    }
    if (text !== null) await waitForText(this.#tab, { text, param: "waitForText", waitMs }, signal);
  }

  /** Waits until the page is still, as long as requested. Does not throw. */
  async settle(signal: AbortSignal): Promise<void> {
    const { settle } = this.#moment;
    if (settle > 0) await waitUntilStill(this.#tab, settle * 1_000, signal);
  }

  /** Waits for the rest of the delay. Throws the signal's reason if the page navigates away. */
  async waitForDelay(signal: AbortSignal): Promise<void> {
    this.startDelay();
    const remainingMs = (this.#delayStart ?? 0) + this.#moment.delay * 1_000 - Date.now();
    if (remainingMs > 0) {
      await Promise.race([sleep(remainingMs), this.#tab.whenCutShort]);
      if (this.#moment.settle > 0) await endAnimations(this.#tab);
    }
    signal.throwIfAborted();
  }
}
