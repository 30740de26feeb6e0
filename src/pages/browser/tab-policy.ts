/** What one tab may load. */
export interface TabLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** What a tab has to know at once. */
export interface PolicyEvents {
  /** The page itself wants to go to an address that is not public. */
  forbidden(): void;
  /** The page has had all the bytes that it may have; comes once. */
  full(): void;
  /** It gets more and more all the same; comes once. */
  flooded(): void;
}

/** Bytes that are under way may still arrive when a page has had its share: as many again. */
const FLOODED = 2;

/** Decides on the requests of one tab, and remembers what it decided. */
export class TabPolicy {
  /** The frame that shows the page itself. */
  readonly mainFrame: string;
  readonly #limits: TabLimits;
  readonly #on: PolicyEvents;
  #blocks: (host: string) => boolean = () => false;
  #requests = 0;
  #bytes = 0;
  #overBudget = false;

  constructor(mainFrame: string, limits: TabLimits, on: PolicyEvents) {
    this.mainFrame = mainFrame;
    this.#limits = limits;
    this.#on = on;
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
    if (!allowed) this.#on.forbidden();
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
    const before = this.#bytes;
    this.#bytes += bytes;
    const passes = (limit: number) => before <= limit && this.#bytes > limit;
    if (passes(this.#limits.bytes)) {
      this.#overBudget = true;
      this.#on.full();
    }
    if (passes(this.#limits.bytes * FLOODED)) this.#on.flooded();
  }
}
