import { DatabaseSync } from "node:sqlite";

/** Where a gateway on Deno that was started with `evictable` takes `pages`: the most pages that its database may have. */
export const DATABASE_LIMIT_PATH = "/__test/database-limit";

/** SQLite's own limit. */
export const NO_PAGE_LIMIT = 1_073_741_823;

/**
 * Has the databases that are opened from now on obey {@link DATABASE_LIMIT_PATH}: a write that needs another page then fails with
 * SQLITE_FULL, as on a full disk. Fewer pages than a database has mean as many as it has. The limit belongs to a connection, so the
 * gateway's own process has to set it.
 *
 * @returns answers a request to that path; null for any other request
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
