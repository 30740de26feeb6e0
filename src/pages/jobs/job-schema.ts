import { MAX_DATE_MS, type TableCheck } from "../../core/storage/damaged-rows.ts";
import type { Sql } from "../../core/storage/sql.ts";

/** Indexes for the frequent queries. */
const INDEXES = {
  tasks_by_status: "tasks(status, due)",
  jobs_by_client: "jobs(client, finished)",
  jobs_by_creation: "jobs(finished, created)",
  jobs_by_expiry: "jobs(expires)",
};

/** What the rows of the tables must hold. */
export const JOB_TABLE_CHECKS: readonly TableCheck[] = [
  { table: "page_jobs", numbers: { created: MAX_DATE_MS, finished: MAX_DATE_MS, expires: MAX_DATE_MS } },
  {
    table: "page_tasks",
    numbers: { n: null, attempts: null, due: MAX_DATE_MS, made: MAX_DATE_MS, bytes: Number.MAX_SAFE_INTEGER },
    json: { fault: "object", headers: "object" },
  },
  { table: "page_uploads", numbers: { n: null } },
  { table: "page_webhooks", numbers: { attempts: null, due: MAX_DATE_MS } },
];

/** Creates the tables of jobs and their tasks. The column `fault` holds the error of a task as JSON, or is empty. */
export function createJobTables(sql: Sql): void {
  sql.all(
    "create table if not exists page_jobs(id text primary key, client text not null, operation text not null, origin text not null, created integer not null, finished integer, expires integer not null) without rowid",
  );
  sql.all(
    "create table if not exists page_tasks(job text not null, n integer not null, url text not null, query text not null, status text not null, attempts integer not null, due integer not null, fault text not null, headers text not null, made integer not null, bytes integer not null, primary key(job, n)) without rowid",
  );
  sql.all(
    "create table if not exists page_uploads(job text not null, n integer not null, url text not null, primary key(job, n)) without rowid",
  );
  for (const [name, columns] of Object.entries(INDEXES)) {
    sql.all(`create index if not exists page_${name} on page_${columns}`);
  }
}
