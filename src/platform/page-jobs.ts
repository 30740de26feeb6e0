import type { ErrorCode } from "../errors/gateway-error.ts";

/** What the page service can be asked for, at once or as a job. */
export const PAGE_OPERATIONS = ["thumbs", "technologies", "metadata"] as const;
export type PageOperation = (typeof PAGE_OPERATIONS)[number];

/** What went wrong with one task of a job. */
export interface TaskFault {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** One address of a job that is asked for. */
export interface NewTask {
  /** The address as the caller wrote it. */
  readonly url: string;
  /** All of the task: a query of its operation. */
  readonly query: string;
  /** The task cannot be done: known before it begins. */
  readonly fault: TaskFault | null;
}

/** A job that is asked for. Plain data: it crosses the border between two objects. */
export interface NewJob {
  /** On whose account it goes. */
  readonly client: string;
  readonly operation: PageOperation;
  /** The program's own address, on which answers are kept. */
  readonly origin: string;
  readonly tasks: readonly NewTask[];
}

export type TaskStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** How one task stands. */
export interface TaskState {
  readonly url: string;
  readonly status: TaskStatus;
  readonly fault: TaskFault | null;
}

/** How a job stands. Times are milliseconds since the epoch. */
export interface JobState {
  readonly id: string;
  readonly operation: PageOperation;
  readonly createdAt: number;
  /** Null: it is not over. */
  readonly finishedAt: number | null;
  /** When it is forgotten. */
  readonly expiresAt: number;
  readonly tasks: readonly TaskState[];
}

/** What came of a task. */
export interface TaskResult {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers that belong to the body; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch at which it was made. */
  readonly madeAt: number;
}

/** Jobs of the page service: they go on when the request that began them is over, and whoever knows the id of one may do everything with it. */
export interface PageJobs {
  /** Begins a job; null: the client has as many unfinished ones as it may have. */
  create(job: NewJob): Promise<JobState | null>;
  /** Null: there is none of this id, or not any more. */
  get(id: string): Promise<JobState | null>;
  /** What came of a task, by its place in the job; null: there is nothing. */
  result(id: string, task: number): Promise<TaskResult | null>;
  /** Ends a job; what is done stays. Null as in `get`. */
  cancel(id: string): Promise<JobState | null>;
}
