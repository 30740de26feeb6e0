import { maskedPath } from "../http/masked-path.ts";
import type { LogFields } from "../platform/context.ts";

const names = new Map<string, string>();

/** `firstTokenMs` as `first_token_ms`. */
function snakeCase(name: string): string {
  let snake = names.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    names.set(name, snake);
  }
  return snake;
}

/** Writes the one structured log line of a request: no secrets, no content, no query string. */
export function logRequest(
  request: Request,
  path: string,
  status: number,
  requestId: string,
  durationMs: number,
  fields: LogFields,
): void {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name !== "streaming") named[snakeCase(name)] = value;
  }
  console.log(
    JSON.stringify({
      at: new Date().toISOString(),
      request_id: requestId,
      method: request.method,
      path: maskedPath(path),
      status,
      duration_ms: Math.round(durationMs),
      ...named,
    }),
  );
}
