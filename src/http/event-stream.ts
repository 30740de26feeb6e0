/** Headers of a server-sent event stream that no proxy on the way may buffer. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** One `data:` item. `json` holds no line break, as `JSON.stringify` guarantees. */
export function dataItem(json: string): string {
  return `data: ${json}\n\n`;
}

/** One item with an `event:` line. */
export function namedItem(event: string, json: string): string {
  return `event: ${event}\ndata: ${json}\n\n`;
}

/** A comment: ignored by every reader, but bytes on the wire. */
export const KEEP_ALIVE_COMMENT = ": keep-alive\n\n";
