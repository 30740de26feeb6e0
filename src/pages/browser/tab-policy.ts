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
  /** It gets more and more all the same, or has the browser tell of it without end; comes once for each. */
  flooded(): void;
  /** It has been refused as many requests as it may make, and asks for more all the same; comes once. */
  insistent(): void;
}

/** Bytes that are under way may still arrive when a page has had its share: as many again. */
const FLOODED = 2;
/** Requests on which is reckoned what no ordinary page does, where one may make fewer: a deployment that loads less of pages shows them all the same. */
const LEAST_RECKONED = 1_000;
/**
 * Messages that a page may cause for each request that it may make. The browser tells of everything that a page does, of what it loads from itself, of
 * frames, workers and addresses that change: a page that is full of them causes some thousand.
 */
const MESSAGES_OF_REQUEST = 20;
/** A worker, a frame that has a process of its own, and a change of the page's own address cost a browser as much as so many messages. */
const MESSAGES_OF_TARGET = 100;
const MESSAGES_OF_ADDRESS = 20;

/** Decides on the requests of one tab, and remembers what it decided. */
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
      if (++this.#refused === this.#reckoned) this.#on.insistent();
      return false;
    }
    return isPage || !URL.canParse(url) || !this.#blocks(new URL(url).hostname);
  }

  /** Counts a message that the browser sent on the page's account: a gateway that has to read them without end serves nobody. */
  told(): void {
    this.#tell(1);
  }

  /** Counts a worker of the page, or a frame that has a process of its own. */
  grew(): void {
    this.#tell(MESSAGES_OF_TARGET);
  }

  /** Counts a change of the page's own address within its document. */
  renamed(): void {
    this.#tell(MESSAGES_OF_ADDRESS);
  }

  /** Counts bytes that arrived, or that the page wants to send. */
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

  /** The page is taken as it is: it has computed for longer than it may while others are served. */
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
