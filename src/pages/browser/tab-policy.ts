/** What one tab may load. */
export interface TabLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** Decides on the requests of one tab, and remembers what it decided. */
export class TabPolicy {
  /** The frame that shows the page itself. */
  readonly mainFrame: string;
  readonly #limits: TabLimits;
  readonly #onForbidden: () => void;
  #blocks: (host: string) => boolean = () => false;
  #requests = 0;
  #bytes = 0;
  #overBudget = false;

  /** @param onForbidden called when the page itself wants to go to an address that is not public */
  constructor(mainFrame: string, limits: TabLimits, onForbidden: () => void) {
    this.mainFrame = mainFrame;
    this.#limits = limits;
    this.#onForbidden = onForbidden;
  }

  /** The page wanted more than it may have. */
  get overBudget(): boolean {
    return this.#overBudget;
  }

  /** Sets which hosts are not loaded from, the page's own excepted. */
  block(blocks: (host: string) => boolean): void {
    this.#blocks = blocks;
  }

  /** The page is about to go somewhere. */
  navigating(allowed: boolean): void {
    if (!allowed) this.#onForbidden();
  }

  /** Whether a request may be made; it counts from now on. */
  admits(url: string, isPage: boolean): boolean {
    this.#requests++;
    if (this.#requests > this.#limits.requests || this.#bytes > this.#limits.bytes) {
      this.#overBudget = true;
      return false;
    }
    return isPage || !URL.canParse(url) || !this.#blocks(new URL(url).hostname);
  }

  /** Counts bytes that arrived. */
  received(bytes: number): void {
    this.#bytes += bytes;
  }
}
