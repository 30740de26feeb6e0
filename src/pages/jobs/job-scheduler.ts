import { toHex } from "../../core/encoding/bytes.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import type { JobState, NewJob, TaskError, TaskResult } from "../../core/ports/page-jobs.ts";
import type { Sql } from "../../core/storage/sql.ts";
import { HOUR_MS } from "../../core/units.ts";
import { countTaskBytes, JobTable, type QueuedTask } from "./job-table.ts";
import type { DueWebhook } from "./webhook-table.ts";

/** Options of the job queue. */
export interface JobSchedulerOptions {
  readonly sql: Sql;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs one task. Throws the error that the caller gets. `isWanted`: the task was not cancelled. */
  runTask(task: QueuedTask, isWanted: () => boolean): Promise<TaskResult>;
  /** Sends a finished job to its webhook. Rejects if the receiver does not accept it. */
  notify(job: JobState, webhook: DueWebhook): Promise<void>;
  /** Prefix of each id, before its random part. */
  readonly prefix: string;
  /** Maximum stored bytes of all clients together. */
  readonly maxBytes: number;
  /** Maximum stored bytes of one client. */
  readonly maxBytesPerClient: number;
}

/** Maximum unfinished jobs of a client. */
export const MAX_UNFINISHED_JOBS = 5;
/** Maximum concurrent tasks and calls of webhooks, of one client and in total. */
const MAX_CONCURRENT_PER_CLIENT = 2;
const MAX_CONCURRENT = 8;
/** Maximum run time of a job, and retention time of a finished job, milliseconds. */
const JOB_LIFETIME_MS = HOUR_MS;
/** Maximum attempts at a task, counting those that found no free capacity and those that a process end interrupted. */
const MAX_ATTEMPTS = 3;
export const RETRY_MS = 5_000;
/** Waiting times between the attempts at a webhook, milliseconds. */
const WEBHOOK_RETRY_MS = [5_000, 30_000, 120_000, 600_000] as const;
/** Maximum bytes of one result. */
const MAX_RESULT_BYTES = 20_000_000;

const INTERRUPTED: TaskError = {
  status: 503,
  code: "job_interrupted",
  message: "The process stopped during each attempt.",
};
const TOO_LATE: TaskError = { status: 504, code: "page_timeout", message: "The job took too long." };
const TOO_LARGE: TaskError = {
  status: 422,
  code: "page_too_large",
  message: "The result does not fit into the storage of jobs.",
};

/** Schedules the tasks of the page service's jobs, and stores their results until they expire. */
export class JobScheduler {
  readonly #options: JobSchedulerOptions;
  readonly #table: JobTable;
  /** The running tasks, with their clients. */
  readonly #running = new Map<Promise<void>, string>();
  #round: Promise<void> | null = null;
  /** The database has failed: the table may list tasks as running that are not. */
  #hasDatabaseFailed = false;
  #wakeUp = Promise.withResolvers<void>();

  /** Requeues the tasks that were running when the process ended, up to the maximum number of attempts. */
  constructor(options: JobSchedulerOptions) {
    this.#options = options;
    this.#table = new JobTable(options.sql);
    this.#table.requeueInterrupted(MAX_ATTEMPTS, INTERRUPTED);
    this.#expireJobs();
  }

  /**
   * Stores a job for `run`. Returns null if the client has the maximum number of unfinished jobs, or if there is no
   * room.
   */
  create(job: NewJob): JobState | null {
    const { now, prefix } = this.#options;
    this.#expireJobs();
    if (this.#table.countUnfinished(job.client) >= MAX_UNFINISHED_JOBS) return null;
    if (
      !this.#ensureRoom(
        job.client,
        job.tasks.reduce((sum, task) => sum + countTaskBytes(task), 0),
      )
    )
      return null;
    const id = `job_${prefix}${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
    this.#table.insert(id, job, now(), now() + JOB_LIFETIME_MS);
    this.#expireJobs();
    this.#wake();
    return this.#table.get(id);
  }

  get(id: string): JobState | null {
    this.#expireJobs();
    return this.#table.get(id);
  }

  result(id: string, task: number): TaskResult | null {
    this.#expireJobs();
    return this.#table.result(id, task);
  }

  cancel(id: string): JobState | null {
    this.#table.endUnfinished(id, "cancelled", null);
    this.#expireJobs();
    this.#wake();
    return this.#table.get(id);
  }

  /**
   * Runs due tasks until none is left, or until the time `until` (milliseconds since the epoch). Concurrent calls share
   * one round. Tasks that must wait are left for a later round, see `nextDueAt`. Rejects if the database fails; a later
   * round then repeats the tasks whose outcome was not stored.
   */
  run(until: number): Promise<void> {
    this.#round ??= this.#runRound(until).finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** When the next queued task or webhook is due, milliseconds since the epoch; null if none is queued. */
  get nextDueAt(): number | null {
    return this.#table.nextDueAt();
  }

  /** When the next job expires or times out, milliseconds since the epoch; null if there are no jobs. */
  get nextExpiryAt(): number | null {
    return this.#table.nextExpiry();
  }

  async #runRound(until: number): Promise<void> {
    try {
      if (this.#hasDatabaseFailed) this.#table.requeueInterrupted(MAX_ATTEMPTS, INTERRUPTED);
      this.#hasDatabaseFailed = false;
      await this.#runDueTasks(until);
    } catch (error) {
      this.#hasDatabaseFailed = true;
      await Promise.allSettled(this.#running.keys());
      throw error;
    }
  }

  async #runDueTasks(until: number): Promise<void> {
    const { now } = this.#options;
    for (;;) {
      this.#wakeUp = Promise.withResolvers();
      this.#expireJobs();
      while (now() < until && this.#running.size < MAX_CONCURRENT && this.#startNext()) {
        // The condition starts one task after another.
      }
      if (this.#running.size === 0) break;
      await Promise.race([...this.#running.keys(), this.#wakeUp.promise]);
    }
  }

  /**
   * Starts a call of a webhook, or else a task. Clients that have nothing running come first, so that a few clients cannot
   * hold up all others.
   */
  #startNext(): boolean {
    const counts = new Map<string, number>();
    for (const client of this.#running.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
    for (let limit = 1; limit <= MAX_CONCURRENT_PER_CLIENT; limit++) {
      const busy = new Set([...counts].flatMap(([client, count]) => (count >= limit ? client : [])));
      // Tasks may be due for an hour, so a webhook must not wait for all of them.
      if (this.#startNextWebhook(busy) || this.#startNextTask(busy)) return true;
    }
    return false;
  }

  #startNextTask(busy: ReadonlySet<string>): boolean {
    const task = this.#table.findNextDue(this.#options.now(), busy);
    if (task === null) return false;
    this.#table.markRunning(task);
    this.#track(this.#runTask(task), task.client);
    return true;
  }

  #startNextWebhook(busy: ReadonlySet<string>): boolean {
    const webhook = this.#table.webhooks.findDue(this.#options.now(), busy);
    if (webhook === null) return false;
    const retryMs = WEBHOOK_RETRY_MS[webhook.attempts];
    // The next attempt is stored first: a process that ends meanwhile repeats the call, and does not forget it.
    this.#table.webhooks.countAttempt(webhook, this.#options.now() + (retryMs ?? RETRY_MS));
    this.#track(this.#callWebhook(webhook, retryMs === undefined), webhook.client);
    return true;
  }

  #track(work: Promise<void>, client: string): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.set(running, client);
  }

  async #callWebhook(webhook: DueWebhook, isLastAttempt: boolean): Promise<void> {
    const job = this.#table.get(webhook.job);
    const isAccepted =
      job !== null &&
      (await this.#options.notify(job, webhook).then(
        () => true,
        () => false,
      ));
    if (isAccepted || isLastAttempt) this.#table.webhooks.delete(webhook.job);
  }

  async #runTask(task: QueuedTask): Promise<void> {
    const storeOutcome = await this.#options
      .runTask(task, () => this.#table.isRunning(task))
      .then(
        (result) => () => this.#storeResult(task, result),
        (thrown: unknown) => () => this.#handleFailure(task, thrown),
      );
    // Outside the task's error handling: an error of the database is no failure of the task.
    storeOutcome();
    this.#expireJobs();
  }

  #storeResult(task: QueuedTask, result: TaskResult): void {
    // The result of a cancelled task is not stored, so it must not evict others.
    if (!this.#table.isRunning(task)) return;
    const { byteLength } = result.body;
    if (byteLength <= MAX_RESULT_BYTES && this.#ensureRoom(task.client, byteLength))
      this.#table.complete(task, result);
    else this.#table.fail(task, TOO_LARGE);
  }

  #handleFailure(task: QueuedTask, thrown: unknown): void {
    const { status, code, message } = toGatewayError(thrown, task.job);
    if (status === 503 && task.attempts + 1 < MAX_ATTEMPTS)
      this.#table.requeue(task, this.#options.now() + RETRY_MS);
    else this.#table.fail(task, { status, code, message });
  }

  /**
   * Whether `bytes` of a client fit, after deleting finished jobs if needed. If the client exceeds its own limit, its
   * oldest jobs go. If all clients together exceed the total limit, the oldest jobs of the largest client go, but only
   * if that client has more than this one will have. So no client can evict jobs of a smaller one.
   */
  #ensureRoom(client: string, bytes: number): boolean {
    const { maxBytes, maxBytesPerClient } = this.#options;
    for (;;) {
      const clientBytes = this.#table.countBytes(client) + bytes;
      const isFull = this.#table.bytes + bytes > maxBytes;
      if (clientBytes <= maxBytesPerClient && !isFull) return true;
      const largest = clientBytes <= maxBytesPerClient ? this.#table.findLargestClient() : null;
      const evictedClient = largest !== null && largest.bytes > clientBytes ? largest.client : client;
      const oldest = this.#table.findOldestFinished(evictedClient);
      if (oldest === null) return false;
      this.#table.delete(oldest);
    }
  }

  /** Marks finished jobs, ends overdue ones, and deletes expired ones. */
  #expireJobs(): void {
    const now = this.#options.now();
    for (const { id, isOver } of this.#table.listExpired(now)) {
      if (isOver) this.#table.delete(id);
      else this.#table.endUnfinished(id, "failed", TOO_LATE);
    }
    this.#table.markFinished(now, now + JOB_LIFETIME_MS);
  }

  #wake(): void {
    this.#wakeUp.resolve();
  }
}
