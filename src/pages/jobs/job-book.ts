import { toHex } from "../../encoding/bytes.ts";
import { toGatewayError } from "../../errors/gateway-error.ts";
import type { JobState, NewJob, TaskFault, TaskResult } from "../../platform/page-jobs.ts";
import type { Sql } from "../../storage/sql.ts";
import { JobTable, type QueuedTask, sizeOf } from "./job-table.ts";

/** What jobs are done with. */
export interface JobBookOptions {
  readonly sql: Sql;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Does one task. Throws what the caller is told. */
  work(task: QueuedTask): Promise<TaskResult>;
  /** Stands in each id before the part that nobody can guess. */
  readonly prefix: string;
  /** Bytes that are kept of all clients together. */
  readonly maxBytes: number;
  /** Bytes that are kept of one client. */
  readonly maxBytesOfClient: number;
}

/** Jobs of a client that are not over. */
export const MAX_JOBS = 5;
/** Tasks that are done at one moment, of one client and in all. */
const AT_ONCE_OF_CLIENT = 2;
const AT_ONCE = 8;
/** For so long a job may go on, and for so long it is kept when it is over, milliseconds. */
const LIFE_MS = 3_600_000;
/** How often a task is begun when there was no room for it, or the process ended. */
const ATTEMPTS = 3;
export const RETRY_MS = 5_000;
/** Bytes of one result. */
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

/** Jobs of the page service: what is to be done next, and what is kept of it for how long. */
export class JobBook {
  readonly #options: JobBookOptions;
  readonly #table: JobTable;
  /** The tasks that are being done, with their clients. */
  readonly #running = new Map<Promise<void>, string>();
  #round: Promise<void> | null = null;
  /** The database has failed: tasks may be noted as being done that are not. */
  #hasFailed = false;
  #news = Promise.withResolvers<void>();

  /** What was being done when the program ended is begun again, so and so often. */
  constructor(options: JobBookOptions) {
    this.#options = options;
    this.#table = new JobTable(options.sql);
    this.#table.interrupted(ATTEMPTS, INTERRUPTED);
    this.#tidy();
  }

  /** Notes a job; `run` does it. Null: the client has as many as it may have, or there is no room. */
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
   * Does what is to be done, until nothing is or `until` (milliseconds since the epoch) has come; calls at one moment share one round. What has to
   * wait is left for a later one: see `nextDue`. Rejects when the database fails: a later round begins again what was not noted.
   */
  run(until: number): Promise<void> {
    this.#round ??= this.#work(until).finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** When there is something to do, milliseconds since the epoch; null: there is nothing. */
  get nextDue(): number | null {
    return this.#table.nextDueAt();
  }

  /** When something is to be forgotten, or given up, milliseconds since the epoch; null: nothing is kept. */
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
        // One after another.
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
    // The database's failure is none of the task's.
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
   * Whether there is room for so much of a client, for which finished jobs have to go: the client's own, or, where all clients have too much
   * together, the oldest of the one that has most, if that is more than this client will have. Nobody pushes out those that have less.
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

  /** Notes what is over, and forgets what was kept for long enough. */
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
