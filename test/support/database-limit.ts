import { DatabaseSync } from "node:sqlite";

/** Path that sets the database limit of a Deno gateway started with `evictable`; `pages`: maximum number of pages. */
export const DATABASE_LIMIT_PATH = "/__test/database-limit";

/** SQLite's own limit. */
export const NO_PAGE_LIMIT = 1_073_741_823;

/**
 * Applies the limit of {@link DATABASE_LIMIT_PATH} to all databases opened from now on: a write that needs another page
 * fails with SQLITE_FULL, as on a full disk. A limit below the present size means the present size. The limit belongs to a
 * connection, so it must be set inside the gateway's process.
 *
 * @returns a handler for requests to that path; it returns null for other requests
 */
export function watchDatabases(): (request: Request) => Response | null {
  const open = new Set<DatabaseSync>();
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    open.add(this);
    return exec.call(this, sql);
  };
  return (request) => {
    const url = new URL(request.url);
    if (url.pathname !== DATABASE_LIMIT_PATH) return null;
    const pages = Number(url.searchParams.get("pages"));
    for (const database of open) exec.call(database, `pragma max_page_count = ${pages}`);
    return new Response("set");
  };
}
