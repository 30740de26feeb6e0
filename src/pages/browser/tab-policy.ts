/** The loading limits of one tab. */
export interface TabLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** Events of a tab that need an immediate reaction. */
export interface PolicyEvents {
  /** The page navigates to an address that is not public. */
  forbidden(): void;
  /** The page has reached its limit of bytes; called once. */
  full(): void;
  /** The page continues to receive bytes after the limit, or causes too many browser events; called once for each. */
  flooded(): void;
  /** The page continues to send requests after many refused ones; called once. */
  insistent(): void;
}

/** Factor on the limit of bytes: after the limit, bytes in transit may still arrive. */
const FLOODED = 2;
/**
 * Minimum for computing the limits of abuse, for deployments with a lower request limit: those still show partial
 * pages.
 */
const LEAST_RECKONED = 1_000;
/**
 * Maximum browser events per allowed request. The browser reports everything that a page does: its requests, frames,
 * workers and address changes. A busy page causes some thousand events.
 */
const MESSAGES_OF_REQUEST = 20;
/**
 * A worker, or a frame with its own process, costs a browser as much as this many events; below, the same for a change
 * of the page's own address.
 */
const MESSAGES_OF_TARGET = 100;
const MESSAGES_OF_ADDRESS = 20;

/** Decides on the requests of one tab, and counts them. */
export class TabPolicy {
  /** The frame that shows the page itself. */
  readonly mainFrame: string;
  readonly #limits: TabLimits;
  readonly #on: PolicyEvents;
  #blocks: (host: string) => boolean = () => false;
  #requests = 0;
  #bytes = 0;
  #messages = 0;
  #refused = 0;
  #overBudget = false;

  constructor(mainFrame: string, limits: TabLimits, on: PolicyEvents) {
    this.mainFrame = mainFrame;
    this.#limits = limits;
    this.#on = on;
  }

  /** True if the page exceeded a limit. */
  get overBudget(): boolean {
    return this.#overBudget;
  }

  /** Sets the hosts to block. The page's own navigation is never blocked. */
  block(blocks: (host: string) => boolean): void {
    this.#blocks = blocks;
  }

  /** The page is about to navigate. */
  navigating(allowed: boolean): void {
    if (!allowed) this.#on.forbidden();
  }

  /** Whether a request is allowed. Every call counts as one request. */
  admits(url: string, isPage: boolean): boolean {
    this.#requests++;
    if (this.#requests > this.#limits.requests || this.#bytes > this.#limits.bytes) {
      this.#overBudget = true;
      if (++this.#refused === this.#reckoned) this.#on.insistent();
      return false;
    }
    return isPage || !URL.canParse(url) || !this.#blocks(new URL(url).hostname);
  }

  /**
   * Counts a browser event of the page: browser events are rate-limited per page, so that a page cannot overload the
   * gateway.
   */
  told(): void {
    this.#tell(1);
  }

  /** Counts a worker of the page, or a frame with its own process. */
  grew(): void {
    this.#tell(MESSAGES_OF_TARGET);
  }

  /** Counts a change of the page's own address within its document. */
  renamed(): void {
    this.#tell(MESSAGES_OF_ADDRESS);
  }

  /** Counts bytes that the page received or wants to send. */
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

  /** Marks the page as over its limits: it has computed for too long while other clients are active. */
  cutShort(): void {
    this.#overBudget = true;
  }

  get #reckoned(): number {
    return Math.max(this.#limits.requests, LEAST_RECKONED);
  }

  #tell(messages: number): void {
    const limit = this.#reckoned * MESSAGES_OF_REQUEST;
    const isWithin = this.#messages <= limit;
    this.#messages += messages;
    if (isWithin && this.#messages > limit) this.#on.flooded();
  }
}
