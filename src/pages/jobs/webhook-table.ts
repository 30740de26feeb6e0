import { numberIn, type Sql, textIn } from "../../core/storage/sql.ts";

/** A webhook of a finished job that may be called. */
export interface DueWebhook {
  readonly job: string;
  readonly client: string;
  readonly url: string;
  /** Number of attempts so far. */
  readonly attempts: number;
}

/** The database table of the jobs' webhooks. A webhook is stored until it has been called, or its job expires. */
export class WebhookTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.all(
      "create table if not exists page_webhooks(job text primary key, url text not null, attempts integer not null, due integer not null) without rowid",
    );
  }

  insert(job: string, url: string, due: number): void {
    this.#sql.all("insert into page_webhooks values(?,?,0,?)", job, url, due);
  }

  /** A due webhook of a finished job. Skips the given clients. */
  findDue(now: number, busy: ReadonlySet<string>): DueWebhook | null {
    const rows = this.#sql.all(
      "select w.job, w.url, w.attempts, j.client from page_webhooks w join page_jobs j on j.id=w.job where j.finished is not null and w.due<=? order by w.due",
      now,
    );
    const row = rows.find((candidate) => !busy.has(textIn(candidate, "client")));
    if (row === undefined) return null;
    return {
      job: textIn(row, "job"),
      client: textIn(row, "client"),
      url: textIn(row, "url"),
      attempts: numberIn(row, "attempts"),
    };
  }

  /** Counts an attempt, and sets when the next one is due. */
  countAttempt({ job }: Pick<DueWebhook, "job">, due: number): void {
    this.#sql.all("update page_webhooks set attempts=attempts+1, due=? where job=?", due, job);
  }

  delete(job: string): void {
    this.#sql.all("delete from page_webhooks where job=?", job);
  }
}
