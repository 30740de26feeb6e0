/**
 * A caller's secrets for one page. They are sent to the origin of the page's requested address alone: never to another
 * host, port or scheme, and no longer once the page has navigated to another origin.
 */
export interface PageSecrets {
  /** Names in lower case. */
  readonly headers: readonly NamedText[];
  readonly cookies: readonly NamedText[];
}

/** A text with a name. */
export interface NamedText {
  readonly name: string;
  readonly value: string;
}

/** When a load counts as failed although the page can be shown. */
export interface FailureRules {
  /** Ranges of the page's own HTTP status, both ends included. */
  readonly statuses: readonly { readonly from: number; readonly to: number }[];
  /** True if no resource of the page may be missing or be answered with an error. */
  readonly resources: boolean;
  /** True if the page may not throw an exception that it does not catch, nor write an error to its console. */
  readonly consoleErrors: boolean;
}

/** The types of resources that a caller can block. */
export const RESOURCE_TYPES = [
  "document",
  "stylesheet",
  "image",
  "media",
  "font",
  "script",
  "texttrack",
  "xhr",
  "fetch",
  "eventsource",
  "manifest",
  "other",
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** What a caller changes about a page and its load, for every operation alike. Plain data: it crosses RPC. */
export interface PageSetup {
  /** The document to show, as HTML, if the caller sent one; null: the server's response. */
  readonly html: string | null;
  readonly secrets: PageSecrets | null;
  /** CSS to add to the page. */
  readonly styles: readonly string[];
  /** JavaScript to run in the loaded page. */
  readonly scripts: readonly string[];
  /** Sorted. The page itself is never blocked. */
  readonly blockedTypes: readonly ResourceType[];
  readonly failOn: FailureRules;
}

/**
 * The address of a page whose document the caller sent. Nothing answers there (RFC 6761): the browser gets the document
 * before it would connect.
 */
export const SENT_PAGE_URL = "https://page.invalid/";
