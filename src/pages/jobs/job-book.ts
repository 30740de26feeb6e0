import { toHex } from "../../encoding/bytes.ts";
import { toGatewayError } from "../../errors/gateway-error.ts";
import type { JobState, NewJob, TaskFault, TaskResult } from "../../platform/page-jobs.ts";
import type { Sql } from "../../storage/sql.ts";
import { JobTable, type QueuedTask, sizeOf } from "./job-table.ts";

/** Options of the job queue. */
export interface JobBookOptions {
  readonly sql: Sql;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs one task. Throws the error that the caller gets. */
  work(task: QueuedTask): Promise<TaskResult>;
  /** Prefix of each id, before its random part. */
  readonly prefix: string;
  /** Maximum stored bytes of all clients together. */
  readonly maxBytes: number;
  /** Maximum stored bytes of one client. */
  readonly maxBytesOfClient: number;
}

/** Maximum unfinished jobs of a client. */
export const MAX_JOBS = 5;
/** Maximum concurrent tasks, of one client and in total. */
const AT_ONCE_OF_CLIENT = 2;
const AT_ONCE = 8;
/** Maximum run time of a job, and retention time of a finished job, milliseconds. */
const LIFE_MS = 3_600_000;
/** Maximum attempts at a task, counting those that found no free capacity and those that a process end interrupted. */
const ATTEMPTS = 3;
export const RETRY_MS = 5_000;
/** Maximum bytes of one result. */
const MAX_RESULT = 20_000_000;

const INTERRUPTED: TaskFault = {
  status: 503,
  code: "job_interrupted",
  message: "The program was ended again and again while it did this.",
};
const TOO_LATE: TaskFault = { status: 504, code: "page_timeout", message: "The job took too long." };
const TOO_LARGE: TaskFault = {
  status: 422,
  code: "page_too_large",
  message: "There is no room to keep the result.",
};

/** Schedules the tasks of the page service's jobs, and stores their results until they expire. */
export class JobBook {
  readonly #options: JobBookOptions;
  readonly #table: JobTable;
  /** The running tasks, with their clients. */
  readonly #running = new Map<Promise<void>, string>();
  #round: Promise<void> | null = null;
  /** The database has failed: the table may list tasks as running that are not. */
  #hasFailed = false;
  #news = Promise.withResolvers<void>();

  /** Requeues the tasks that were running when the process ended, up to the maximum number of attempts. */
  constructor(options: JobBookOptions) {
    this.#options = options;
    this.#table = new JobTable(options.sql);
    this.#table.interrupted(ATTEMPTS, INTERRUPTED);
    this.#tidy();
  }

  /**
   * Stores a job for `run`. Returns null if the client has the maximum number of unfinished jobs, or if there is no
   * room.
   */
  create(job: NewJob): JobState | null {
    const { now, prefix } = this.#options;
    this.#tidy();
    if (this.#table.unfinished(job.client) >= MAX_JOBS) return null;
    if (
      !this.#makeRoom(
        job.client,
        job.tasks.reduce((sum, task) => sum + sizeOf(task), 0),
      )
    )
      return null;
    const id = `job_${prefix}${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
    this.#table.add(id, job, now(), now() + LIFE_MS);
    this.#tidy();
    this.#wake();
    return this.#table.get(id);
  }

  get(id: string): JobState | null {
    this.#tidy();
    return this.#table.get(id);
  }

  result(id: string, task: number): TaskResult | null {
    this.#tidy();
    return this.#table.result(id, task);
  }

  cancel(id: string): JobState | null {
    this.#table.end(id, "cancelled", null);
    this.#tidy();
    this.#wake();
    return this.#table.get(id);
  }

  /**
   * Runs due tasks until none is left, or until the time `until` (milliseconds since the epoch). Concurrent calls share
   * one round. Tasks that must wait are left for a later round, see `nextDue`. Rejects if the database fails; a later
   * round then repeats the tasks whose outcome was not stored.
   */
  run(until: number): Promise<void> {
    this.#round ??= this.#work(until).finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** When the next queued task is due, milliseconds since the epoch; null if none is queued. */
  get nextDue(): number | null {
    return this.#table.nextDueAt();
  }

  /** When the next job expires or times out, milliseconds since the epoch; null if there are no jobs. */
  get nextExpiry(): number | null {
    return this.#table.nextExpiry();
  }

  async #work(until: number): Promise<void> {
    try {
      if (this.#hasFailed) this.#table.interrupted(ATTEMPTS, INTERRUPTED);
      this.#hasFailed = false;
      await this.#workOn(until);
    } catch (error) {
      this.#hasFailed = true;
      await Promise.allSettled(this.#running.keys());
      throw error;
    }
  }

  async #workOn(until: number): Promise<void> {
    const { now } = this.#options;
    for (;;) {
      this.#news = Promise.withResolvers();
      this.#tidy();
      while (now() < until && this.#running.size < AT_ONCE && this.#beginNext()) {
        // The condition starts one task after another.
      }
      if (this.#running.size === 0) break;
      await Promise.race([...this.#running.keys(), this.#news.promise]);
    }
  }

  #beginNext(): boolean {
    const counts = new Map<string, number>();
    for (const client of this.#running.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
    const busy = new Set(
      [...counts].flatMap(([client, count]) => (count >= AT_ONCE_OF_CLIENT ? client : [])),
    );
    const task = this.#table.nextDue(this.#options.now(), busy);
    if (task === null) return false;
    this.#table.begin(task);
    const doing = this.#do(task).finally(() => this.#running.delete(doing));
    this.#running.set(doing, task.client);
    return true;
  }

  async #do(task: QueuedTask): Promise<void> {
    const note = await this.#options.work(task).then(
      (result) => () => this.#keep(task, result),
      (thrown: unknown) => () => this.#failed(task, thrown),
    );
    // Outside the task's error handling: an error of the database is no failure of the task.
    note();
    this.#tidy();
  }

  #keep(task: QueuedTask, result: TaskResult): void {
    const { byteLength } = result.body;
    if (byteLength <= MAX_RESULT && this.#makeRoom(task.client, byteLength))
      this.#table.complete(task, result);
    else this.#table.fail(task, TOO_LARGE);
  }

  #failed(task: QueuedTask, thrown: unknown): void {
    const { status, code, message } = toGatewayError(thrown, task.job);
    if (status === 503 && task.attempts + 1 < ATTEMPTS)
      this.#table.putOff(task, this.#options.now() + RETRY_MS);
    else this.#table.fail(task, { status, code, message });
  }

  /**
   * Whether `bytes` of a client fit, after deleting finished jobs if needed. If the client exceeds its own limit, its
   * oldest jobs go. If all clients together exceed the total limit, the oldest jobs of the largest client go, but only
   * if that client has more than this one will have. So no client can evict jobs of a smaller one.
   */
  #makeRoom(client: string, bytes: number): boolean {
    const { maxBytes, maxBytesOfClient } = this.#options;
    for (;;) {
      const own = this.#table.bytesOf(client) + bytes;
      const isFull = this.#table.bytes + bytes > maxBytes;
      if (own <= maxBytesOfClient && !isFull) return true;
      const largest = own <= maxBytesOfClient ? this.#table.largestClient() : null;
      const giver = largest !== null && largest.bytes > own ? largest.client : client;
      const oldest = this.#table.oldestFinished(giver);
      if (oldest === null) return false;
      this.#table.forget(oldest);
    }
  }

  /** Marks finished jobs, ends overdue ones, and deletes expired ones. */
  #tidy(): void {
    const now = this.#options.now();
    for (const { id, isOver } of this.#table.expired(now)) {
      if (isOver) this.#table.forget(id);
      else this.#table.end(id, "failed", TOO_LATE);
    }
    this.#table.finish(now, now + LIFE_MS);
  }

  #wake(): void {
    this.#news.resolve();
  }
}
