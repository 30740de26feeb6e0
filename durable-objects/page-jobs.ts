import { DurableObject } from "cloudflare:workers";
import type { JobState, NewJob, TaskResult } from "../src/core/ports/page-jobs.ts";
import { JobScheduler, RETRY_MS } from "../src/pages/jobs/job-scheduler.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { createCloudflarePlatform } from "../src/runtime/cloudflare/index.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";

/** Maximum bytes of results stored for one client. */
const MAX_BYTES = 100_000_000;
/** An alarm may run for 15 minutes: it hands over to the next alarm before that, milliseconds. */
const ROUND_MS = 600_000;

/**
 * The jobs of one client of the page service: alarm and storage around the rules in `src/pages/jobs/`. The alarm does the
 * work, not the requests.
 */
export class PageJobs extends DurableObject<Env> {
  /** Null: the storage was not read yet, or is empty. */
  #scheduler: JobScheduler | null = null;

  async create(job: NewJob): Promise<JobState | null> {
    const scheduler = this.#openScheduler();
    const created = scheduler.create(job);
    await this.#scheduleAlarm(scheduler);
    return created;
  }

  get(id: string): JobState | null {
    return this.#openIfStored()?.get(id) ?? null;
  }

  result(id: string, task: number): TaskResult | null {
    return this.#openIfStored()?.result(id, task) ?? null;
  }

  async cancel(id: string): Promise<JobState | null> {
    const scheduler = this.#openIfStored();
    const cancelled = scheduler?.cancel(id) ?? null;
    // The job's webhook is due now.
    if (scheduler !== null) await this.#scheduleAlarm(scheduler);
    return cancelled;
  }

  override async alarm(): Promise<void> {
    const scheduler = this.#openIfStored();
    if (scheduler === null) return;
    try {
      await scheduler.run(Date.now() + ROUND_MS);
      if (await this.#scheduleAlarm(scheduler)) return;
    } catch {
      // An alarm that throws is retried only a few times by the platform.
      await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
      return;
    }
    // The old object expects its tables; requests that arrive meanwhile wait until the deletion is done.
    this.#scheduler = null;
    await this.ctx.storage.deleteAll();
  }

  /** Opens the stored jobs; null: none are stored. An object requested with an invented id stays empty and costs nothing. */
  #openIfStored(): JobScheduler | null {
    if (this.#scheduler !== null) return this.#scheduler;
    const tables = this.ctx.storage.sql.exec(
      "select name from sqlite_master where type='table' and name='page_jobs'",
    );
    return tables.toArray().length === 0 ? null : this.#openScheduler();
  }

  #openScheduler(): JobScheduler {
    this.#scheduler ??= this.#createScheduler();
    return this.#scheduler;
  }

  #createScheduler(): JobScheduler {
    const platform = createCloudflarePlatform(this.env);
    return new JobScheduler({
      sql: durableSql(this.ctx.storage),
      now: Date.now,
      runTask: async (task, isWanted) =>
        (await import("../src/pages/job-api/run-task.ts")).runTask(platform, task, isWanted),
      notify: async (job, webhook) =>
        (await import("../src/pages/job-api/deliver.ts")).notifyWebhook(platform, job, webhook),
      prefix: `${this.ctx.id}_`,
      maxBytes: MAX_BYTES,
      maxBytesPerClient: MAX_BYTES,
    });
  }

  /** Sets the alarm for the next work or expiry. Returns false when nothing is stored. */
  async #scheduleAlarm({ nextDueAt, nextExpiryAt }: JobScheduler): Promise<boolean> {
    if (nextExpiryAt === null) return false;
    await this.ctx.storage.setAlarm(Math.max(Date.now(), Math.min(nextDueAt ?? nextExpiryAt, nextExpiryAt)));
    return true;
  }
}
