/** The browser that Miniflare and the tests share: an absolute path, or null when this machine has none. */
export declare function browserExecutable(): string | null;
/** Puts a browser where Miniflare looks for one; null, with a hint printed, when there can be none. */
export declare function ensureBrowser(): Promise<string | null>;
