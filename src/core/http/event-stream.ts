/** Headers of a server-sent event stream. They keep proxies from buffering it. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Formats a `data:` item. `json` has no line breaks; `JSON.stringify` guarantees that. */
export function dataItem(json: string): string {
  return `data: ${json}\n\n`;
}

/** Formats an item with an `event:` line. */
export function namedItem(event: string, json: string): string {
  return `event: ${event}\ndata: ${json}\n\n`;
}

/** A comment that keeps the connection alive; readers ignore it. */
export const KEEP_ALIVE_COMMENT = ": keep-alive\n\n";
