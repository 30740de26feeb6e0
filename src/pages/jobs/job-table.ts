import { fromBase64, toBase64 } from "../../core/encoding/bytes.ts";
import {
  type JobState,
  type NewJob,
  type NewTask,
  PAGE_OPERATIONS,
  type PageOperation,
  type TaskError,
  type TaskResult,
  type TaskStatus,
} from "../../core/ports/page-jobs.ts";
import { quarantineDamagedRows } from "../../core/storage/damaged-rows.ts";
import { numberIn, type Sql, type SqlRow, type SqlValue, textIn } from "../../core/storage/sql.ts";
import { insertRows, TextTable } from "../../core/storage/text-table.ts";
import { createJobTables, JOB_TABLE_CHECKS } from "./job-schema.ts";
import { WebhookTable } from "./webhook-table.ts";

/** A task that may start. */
export interface QueuedTask {
  readonly job: string;
  /** Its index in the job. */
  readonly n: number;
  readonly client: string;
  readonly operation: PageOperation;
  readonly origin: string;
  readonly query: string;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Where the result is sent with PUT; null: nowhere. */
  readonly uploadUrl: string | null;
}

const UNFINISHED = "status in ('queued','running')";

/** The database tables of jobs, tasks and results. */
export class JobTable {
  readonly webhooks: WebhookTable;
  readonly #sql: Sql;
  readonly #results: TextTable;
  #bytes: number;

  constructor(sql: Sql) {
    this.#sql = sql;
    createJobTables(sql);
    this.webhooks = new WebhookTable(sql);
    quarantineDamagedRows(sql, JOB_TABLE_CHECKS);
    this.#results = new TextTable(sql, "page_results");
    const [row] = sql.all("select total(bytes) as n from page_tasks");
    this.#bytes = numberIn(row, "n");
  }

  /** Bytes of all stored tasks and results. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Inserts a job. */
  insert(
    id: string,
    { client, operation, origin, tasks, webhook }: NewJob,
    now: number,
    expires: number,
  ): void {
    this.#sql.transaction(() => {
      this.#sql.all(
        "insert into page_jobs values(?,?,?,?,?,null,?)",
        id,
        client,
        operation,
        origin,
        now,
        expires,
      );
      insertRows(
        this.#sql,
        "page_tasks",
        tasks.map((task, n) => createRow(id, n, task, now)),
      );
      const uploads = tasks.flatMap(({ uploadUrl }, n) =>
        uploadUrl === undefined ? [] : [[id, n, uploadUrl]],
      );
      insertRows(this.#sql, "page_uploads", uploads);
      if (webhook !== undefined) this.webhooks.insert(id, webhook, now);
    });
    for (const task of tasks) this.#bytes += countTaskBytes(task);
  }

  get(id: string): JobState | null {
    const [job] = this.#sql.all("select * from page_jobs where id=?", id);
    if (job === undefined) return null;
    const finished = numberIn(job, "finished");
    return {
      id,
      operation: readOperation(job),
      createdAt: numberIn(job, "created"),
      finishedAt: finished === 0 ? null : finished,
      expiresAt: numberIn(job, "expires"),
      tasks: this.#sql
        .all("select url, status, fault from page_tasks where job=? order by n", id)
        .map((row) => ({ url: textIn(row, "url"), status: readStatus(row), fault: readError(row) })),
    };
  }

  /** Number of unfinished jobs of a client. */
  countUnfinished(client: string): number {
    const [row] = this.#sql.all(
      "select count(*) as n from page_jobs where client=? and finished is null",
      client,
    );
    return numberIn(row, "n");
  }

  /** The next due task, in the order in which the jobs were created. Skips the given clients. */
  findNextDue(now: number, busy: ReadonlySet<string>): QueuedTask | null {
    // An index and the primary key sort the rows, so SQLite stops after one job; `+` keeps it from another index.
    const [row] = this.#sql.all(
      "select t.job, t.n, j.client, j.operation, j.origin, t.query, t.attempts, u.url from page_jobs j cross join page_tasks t on t.job=j.id left join page_uploads u on u.job=t.job and u.n=t.n where j.finished is null and j.client not in (select value from json_each(?)) and +t.status='queued' and t.due<=? order by j.created, j.id, t.n limit 1",
      JSON.stringify([...busy]),
      now,
    );
    if (row === undefined) return null;
    return {
      job: textIn(row, "job"),
      n: numberIn(row, "n"),
      client: textIn(row, "client"),
      operation: readOperation(row),
      origin: textIn(row, "origin"),
      query: textIn(row, "query"),
      attempts: numberIn(row, "attempts"),
      uploadUrl: textIn(row, "url") || null,
    };
  }

  /** When the next queued task or webhook of a finished job is due; null if there is none. */
  nextDueAt(): number | null {
    const [row] = this.#sql.all(
      "select min(due) as due from (select due from page_tasks where status='queued' union all select w.due from page_webhooks w join page_jobs j on j.id=w.job where j.finished is not null)",
    );
    return typeof row?.["due"] === "number" ? row["due"] : null;
  }

  /** When the next job expires or times out; null if there is none. */
  nextExpiry(): number | null {
    const [row] = this.#sql.all("select min(expires) as expires from page_jobs");
    return typeof row?.["expires"] === "number" ? row["expires"] : null;
  }

  markRunning({ job, n }: QueuedTask): void {
    this.#sql.all("update page_tasks set status='running', attempts=attempts+1 where job=? and n=?", job, n);
  }

  /** Whether a task runs: it was not cancelled, and its job not deleted. */
  isRunning({ job, n }: QueuedTask): boolean {
    return (
      this.#sql.all("select n from page_tasks where job=? and n=? and status='running'", job, n).length > 0
    );
  }

  /** Requeues a running task. */
  requeue({ job, n }: QueuedTask, due: number): void {
    this.#sql.all(
      "update page_tasks set status='queued', due=? where job=? and n=? and status='running'",
      due,
      job,
      n,
    );
  }

  /** Stores the result of a task, unless the task was cancelled. */
  complete({ job, n }: QueuedTask, { body, headers, madeAt }: TaskResult): void {
    let bytes = 0;
    this.#sql.transaction(() => {
      const rows = this.#sql.all(
        "update page_tasks set status='completed', headers=?, made=?, bytes=bytes+? where job=? and n=? and status='running' returning n",
        JSON.stringify(headers),
        madeAt,
        body.byteLength,
        job,
        n,
      );
      if (rows.length === 0) return;
      this.#results.put(job, String(n), toBase64(body));
      bytes = body.byteLength;
    });
    this.#bytes += bytes;
  }

  fail({ job, n }: Pick<QueuedTask, "job" | "n">, error: TaskError): void {
    this.#sql.all(
      "update page_tasks set status='failed', fault=? where job=? and n=? and status='running'",
      JSON.stringify(error),
      job,
      n,
    );
  }

  /** Ends all unfinished tasks of a job with the given status. */
  endUnfinished(job: string, status: "failed" | "cancelled", error: TaskError | null): void {
    const errorText = error === null ? "" : JSON.stringify(error);
    this.#sql.all(
      `update page_tasks set status=?, fault=? where job=? and ${UNFINISHED}`,
      status,
      errorText,
      job,
    );
  }

  /**
   * Requeues the tasks that were running when the process ended. Fails those that have reached the number of attempts.
   */
  requeueInterrupted(attempts: number, error: TaskError): void {
    this.#sql.all(
      "update page_tasks set status='failed', fault=? where status='running' and attempts>=?",
      JSON.stringify(error),
      attempts,
    );
    this.#sql.all("update page_tasks set status='queued' where status='running'");
  }

  /** Marks the jobs as finished whose tasks all have ended. They are stored until `expires`. */
  markFinished(now: number, expires: number): void {
    this.#sql.all(
      `update page_jobs set finished=?, expires=? where finished is null and not exists (select 1 from page_tasks t where t.job=page_jobs.id and t.${UNFINISHED})`,
      now,
      expires,
    );
  }

  /** The jobs that have expired or timed out. */
  listExpired(now: number): readonly { readonly id: string; readonly isOver: boolean }[] {
    return this.#sql
      .all("select id, finished from page_jobs where expires<=?", now)
      .map((row) => ({ id: textIn(row, "id"), isOver: row["finished"] !== null }));
  }

  delete(id: string): void {
    const [row] = this.#sql.all("select total(bytes) as n from page_tasks where job=?", id);
    this.#sql.transaction(() => {
      this.#sql.all("delete from page_jobs where id=?", id);
      this.#sql.all("delete from page_tasks where job=?", id);
      this.#sql.all("delete from page_uploads where job=?", id);
      this.webhooks.delete(id);
      this.#results.delete(id);
    });
    this.#bytes -= numberIn(row, "n");
  }

  /** Bytes of all stored tasks and results of a client. */
  countBytes(client: string): number {
    const [row] = this.#sql.all(
      "select total(t.bytes) as n from page_jobs j join page_tasks t on t.job=j.id where j.client=?",
      client,
    );
    return numberIn(row, "n");
  }

  /** The client with the most stored bytes, among clients with finished jobs; null if there is none. */
  findLargestClient(): { readonly client: string; readonly bytes: number } | null {
    const [row] = this.#sql.all(
      "select j.client, total(t.bytes) as n from page_jobs j join page_tasks t on t.job=j.id group by j.client having max(j.finished) is not null order by n desc, j.client limit 1",
    );
    return row === undefined ? null : { client: textIn(row, "client"), bytes: numberIn(row, "n") };
  }

  /** The client's job that finished first; null if there is none. */
  findOldestFinished(client: string): string | null {
    const [row] = this.#sql.all(
      "select id from page_jobs where client=? and finished is not null order by finished, id limit 1",
      client,
    );
    return row === undefined ? null : textIn(row, "id");
  }

  result(id: string, n: number): TaskResult | null {
    const [row] = this.#sql.all(
      "select headers, made from page_tasks where job=? and n=? and status='completed'",
      id,
      n,
    );
    if (row === undefined) return null;
    const headers: Record<string, string> = JSON.parse(textIn(row, "headers"));
    const body = fromBase64(this.#results.get(id, String(n)));
    return { body, headers, madeAt: numberIn(row, "made") };
  }
}

/** A new task as a row, in the order of the columns. */
function createRow(job: string, n: number, task: NewTask, due: number): SqlValue[] {
  const { url, query, fault } = task;
  const status: TaskStatus = fault === null ? "queued" : "failed";
  const errorText = fault === null ? "" : JSON.stringify(fault);
  return [job, n, url, query, status, 0, due, errorText, "", 0, countTaskBytes(task)];
}

/** Bytes to count for a task without a result. */
export function countTaskBytes({ url, query, uploadUrl = "" }: NewTask): number {
  return 2 * (url.length + query.length + uploadUrl.length);
}

function readOperation(row: SqlRow): PageOperation {
  const operation = textIn(row, "operation");
  return PAGE_OPERATIONS.find((known) => known === operation) ?? "thumbs";
}

const STATUSES: readonly TaskStatus[] = ["queued", "running", "completed", "failed", "cancelled"];

function readStatus(row: SqlRow): TaskStatus {
  const text = textIn(row, "status");
  return STATUSES.find((status) => status === text) ?? "failed";
}

function readError(row: SqlRow): TaskError | null {
  const text = textIn(row, "fault");
  if (text === "") return null;
  const error: TaskError = JSON.parse(text);
  return error;
}
