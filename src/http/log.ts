import type { LogFields } from "./context.ts";

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
    if (name !== "streaming") named[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  console.log(
    JSON.stringify({
      at: new Date().toISOString(),
      request_id: requestId,
      method: request.method,
      // Keys and account names travel in admin paths.
      path: path.startsWith("/admin/") ? path.replace(/^(\/admin\/(?:keys|accounts))\/.*/, "$1/…") : path,
      status,
      duration_ms: Math.round(durationMs),
      ...named,
    }),
  );
}
