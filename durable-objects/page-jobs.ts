import { DurableObject } from "cloudflare:workers";
import { JobBook } from "../src/pages/jobs/job-book.ts";
import { doTask } from "../src/pages/jobs/work.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { cloudflarePlatform } from "../src/platform/cloudflare/index.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import type { JobState, NewJob, TaskResult } from "../src/platform/page-jobs.ts";

/** Bytes of results that are kept for one client. */
const MAX_BYTES = 100_000_000;
/** An alarm may go on for 15 minutes: before that it hands over to the next. */
const ROUND_MS = 600_000;

/** The jobs of one client of the page service: alarm and storage around the rules in `src/pages/jobs/`. Requests come and go, the alarm works. */
export class PageJobs extends DurableObject<Env> {
  #book: JobBook;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#book = this.#open();
  }

  async create(job: NewJob): Promise<JobState | null> {
    const created = this.#book.create(job);
    await this.#plan();
    return created;
  }

  get(id: string): JobState | null {
    return this.#book.get(id);
  }

  result(id: string, task: number): TaskResult | null {
    return this.#book.result(id, task);
  }

  cancel(id: string): JobState | null {
    return this.#book.cancel(id);
  }

  override async alarm(): Promise<void> {
    await this.#book.run(Date.now() + ROUND_MS);
    if (await this.#plan()) return;
    await this.ctx.storage.deleteAll();
    // The old one would look for its tables.
    this.#book = this.#open();
  }

  #open(): JobBook {
    const platform = cloudflarePlatform(this.env);
    return new JobBook({
      sql: durableSql(this.ctx.storage),
      now: Date.now,
      work: (task) => doTask(platform, task),
      prefix: `${this.ctx.id}_`,
      maxBytes: MAX_BYTES,
      maxBytesOfClient: MAX_BYTES,
    });
  }

  /** Has the alarm ring when there is something to do or to forget. False: nothing is kept. */
  async #plan(): Promise<boolean> {
    const { nextDue, nextExpiry } = this.#book;
    if (nextExpiry === null) return false;
    await this.ctx.storage.setAlarm(Math.max(Date.now(), Math.min(nextDue ?? nextExpiry, nextExpiry)));
    return true;
  }
}
