import type { ErrorCode } from "../errors/gateway-error.ts";

/** The operations of the page service, callable directly or as a job. */
export const PAGE_OPERATIONS = ["thumbs", "technologies", "metadata", "content"] as const;
export type PageOperation = (typeof PAGE_OPERATIONS)[number];

/** The path of an operation, for addresses, documents and jobs. */
export const getOperationPath = (operation: PageOperation) => `/v1/${operation}`;

/** The error of one task of a job. */
export interface TaskError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** One address of a requested job. */
export interface NewTask {
  /** The address as the caller wrote it. */
  readonly url: string;
  /** The task as a query string of its operation. */
  readonly query: string;
  /** An error known before the task starts: the task cannot run. */
  readonly fault: TaskError | null;
  /** Where the result is sent with PUT, such as a presigned address of a bucket. */
  readonly uploadUrl?: string;
}

/** A requested job. Plain data: it crosses RPC. */
export interface NewJob {
  /** The client that the job counts for. */
  readonly client: string;
  readonly operation: PageOperation;
  /** The gateway's own address; part of the cache keys of the answers. */
  readonly origin: string;
  readonly tasks: readonly NewTask[];
  /** Where the finished job's state is sent with POST. */
  readonly webhook?: string;
}

export type TaskStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** State of one task. */
export interface TaskState {
  readonly url: string;
  readonly status: TaskStatus;
  readonly fault: TaskError | null;
}

/** State of a job. Times are milliseconds since the epoch. */
export interface JobState {
  readonly id: string;
  readonly operation: PageOperation;
  readonly createdAt: number;
  /** Null while the job is unfinished. */
  readonly finishedAt: number | null;
  /** When the job is deleted. */
  readonly expiresAt: number;
  readonly tasks: readonly TaskState[];
}

/** The result of a task. */
export interface TaskResult {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers that belong to the body; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the result was made, milliseconds since the epoch. */
  readonly madeAt: number;
}

/**
 * Jobs of the page service. A job outlives the request that started it. Knowing its id is enough to read and cancel it.
 */
export interface PageJobs {
  /** Starts a job; null if the client already has the maximum number of unfinished jobs. */
  create(job: NewJob): Promise<JobState | null>;
  /** Null if no job has this id, or the job has expired. */
  get(id: string): Promise<JobState | null>;
  /** The result of a task, by its index in the job; null if there is none. */
  result(id: string, task: number): Promise<TaskResult | null>;
  /** Cancels a job; finished tasks keep their results. Null as in `get`. */
  cancel(id: string): Promise<JobState | null>;
}
