import { SENT_PAGE_URL } from "../../../core/ports/page-setup.ts";
import type { OriginSecrets } from "./origin-secrets.ts";

/** The loading limits of one tab. */
export interface TabLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** Events of a tab that need an immediate reaction. */
export interface PolicyEvents {
  /** The page navigates to an address that is not public. */
  onForbiddenNavigation(): void;
  /** The page has reached its limit of bytes; called once. */
  onByteLimit(): void;
  /** The page continues to receive bytes after the limit, or causes too many browser events; called once for each. */
  onTrafficFlood(): void;
  /** The page continues to send requests after many refused ones; called once. */
  onRequestFlood(): void;
}

/** Factor on the limit of bytes: after the limit, bytes in transit may still arrive. */
const FLOOD_FACTOR = 2;
/**
 * Minimum for computing the limits of abuse, for deployments with a lower request limit: those still show partial
 * pages.
 */
const MIN_FLOOD_REQUESTS = 1_000;
/**
 * Maximum browser events per allowed request. The browser reports everything that a page does: its requests, frames,
 * workers and address changes. A busy page causes some thousand events.
 */
const EVENTS_PER_REQUEST = 20;
/** A worker, or a frame with its own process, costs a browser as much as this many events. */
const EVENTS_PER_TARGET = 100;
/** A change of the page's own address costs a browser as much as this many events. */
const EVENTS_PER_ADDRESS_CHANGE = 20;

/** Decides on the requests of one tab, and counts them. */
export class TabPolicy {
  /** The frame that shows the page itself. */
  readonly mainFrame: string;
  readonly #limits: TabLimits;
  readonly #events: PolicyEvents;
  #isBlockedHost: (host: string) => boolean = () => false;
  #blockedTypes: ReadonlySet<string> = new Set();
  #sentDocument: string | null = null;
  #secrets: OriginSecrets | null = null;
  #requests = 0;
  #bytes = 0;
  #eventCount = 0;
  #refused = 0;
  #overBudget = false;

  constructor(mainFrame: string, limits: TabLimits, events: PolicyEvents) {
    this.mainFrame = mainFrame;
    this.#limits = limits;
    this.#events = events;
  }

  /** True if the page exceeded a limit. */
  get overBudget(): boolean {
    return this.#overBudget;
  }

  /** Sets the hosts to block. The page's own navigation is never blocked. */
  setBlockedHosts(blocks: (host: string) => boolean): void {
    this.#isBlockedHost = blocks;
  }

  /** Sets the types of resources to block, in lower case. The page's own document is never blocked. */
  setBlockedTypes(types: readonly string[]): void {
    this.#blockedTypes = new Set(types);
  }

  /** Sets the document of `SENT_PAGE_URL`, as HTML. */
  setSentDocument(html: string): void {
    this.#sentDocument = html;
  }

  /** Sets the secrets of the page's own origin. */
  setSecrets(secrets: OriginSecrets): void {
    this.#secrets = secrets;
  }

  get secrets(): OriginSecrets | null {
    return this.#secrets;
  }

  /** The document that the caller sent for a page, as HTML; null if the page is to be loaded. */
  sentDocumentFor(url: string): string | null {
    return url === SENT_PAGE_URL ? this.#sentDocument : null;
  }

  /** Whether to block a resource because of its type in the DevTools protocol, such as `Image`. */
  isBlockedType(resourceType: string, isPage: boolean): boolean {
    return !isPage && this.#blockedTypes.has(resourceType.toLowerCase());
  }

  /** The page is about to navigate. */
  checkNavigation(allowed: boolean): void {
    if (!allowed) this.#events.onForbiddenNavigation();
  }

  /** Whether a request is allowed. Every call counts as one request. */
  admitRequest(url: string, isPage: boolean): boolean {
    this.#requests++;
    if (this.#requests > this.#limits.requests || this.#bytes > this.#limits.bytes) {
      this.#overBudget = true;
      if (++this.#refused === this.#floodRequests) this.#events.onRequestFlood();
      return false;
    }
    return isPage || !URL.canParse(url) || !this.#isBlockedHost(new URL(url).hostname);
  }

  /**
   * Counts a browser event of the page: browser events are rate-limited per page, so that a page cannot overload the
   * gateway.
   */
  countEvent(): void {
    this.#countEvents(1);
  }

  /** Counts a worker of the page, or a frame with its own process. */
  countTarget(): void {
    this.#countEvents(EVENTS_PER_TARGET);
  }

  /** Counts a change of the page's own address within its document. */
  countAddressChange(): void {
    this.#countEvents(EVENTS_PER_ADDRESS_CHANGE);
  }

  /** Counts bytes that the page received or wants to send. */
  countBytes(bytes: number): void {
    const before = this.#bytes;
    this.#bytes += bytes;
    const hasJustExceeded = (limit: number) => before <= limit && this.#bytes > limit;
    if (hasJustExceeded(this.#limits.bytes)) {
      this.#overBudget = true;
      this.#events.onByteLimit();
    }
    if (hasJustExceeded(this.#limits.bytes * FLOOD_FACTOR)) this.#events.onTrafficFlood();
  }

  /** Marks the page as over its limits: it has computed for too long while other clients are active. */
  markOverBudget(): void {
    this.#overBudget = true;
  }

  get #floodRequests(): number {
    return Math.max(this.#limits.requests, MIN_FLOOD_REQUESTS);
  }

  #countEvents(messages: number): void {
    const limit = this.#floodRequests * EVENTS_PER_REQUEST;
    const isWithin = this.#eventCount <= limit;
    this.#eventCount += messages;
    if (isWithin && this.#eventCount > limit) this.#events.onTrafficFlood();
  }
}
