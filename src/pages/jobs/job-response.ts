import * as z from "zod";
import { type JobState, PAGE_OPERATIONS, type TaskState } from "../../core/ports/page-jobs.ts";

/** Seconds after which a client should ask for the job's state again. */
const RETRY_AFTER = 2;

const taskStatus = z.enum(["queued", "running", "completed", "failed", "cancelled"]);

/** State of a job (docs/page-contract/jobs.md, Jobs). */
export const jobSchema = () =>
  z.object({
    id: z.string(),
    operation: z.enum(PAGE_OPERATIONS),
    status: taskStatus,
    createdAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable(),
    expiresAt: z.iso.datetime(),
    progress: z.object({
      total: z.int(),
      completed: z.int(),
      failed: z.int(),
      cancelled: z.int(),
    }),
    /** In the order of the addresses. */
    results: z.array(
      z.object({
        url: z.string(),
        status: taskStatus,
        /** Address of the result, once the task is completed. */
        resultUrl: z.string().nullable(),
        error: z.object({ status: z.int(), code: z.string(), message: z.string() }).nullable(),
      }),
    ),
  });

/** The response with a job's state. */
export function createJobResponse(job: JobState, status = 200): Response {
  const headers = {
    location: `/v1/jobs/${job.id}`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    ...(job.finishedAt === null && { "retry-after": String(RETRY_AFTER) }),
  };
  return Response.json(toJobView(job), { status, headers });
}

function toJobView(job: JobState): z.output<ReturnType<typeof jobSchema>> {
  const { id, operation, createdAt, finishedAt, expiresAt, tasks } = job;
  const count = (status: TaskState["status"]) => tasks.filter((task) => task.status === status).length;
  return {
    id,
    operation,
    status: jobStatus(job),
    createdAt: toIsoTime(createdAt),
    finishedAt: finishedAt === null ? null : toIsoTime(finishedAt),
    expiresAt: toIsoTime(expiresAt),
    progress: {
      total: tasks.length,
      completed: count("completed"),
      failed: count("failed"),
      cancelled: count("cancelled"),
    },
    results: tasks.map(({ url, status, fault }, index) => ({
      url,
      status,
      resultUrl: status === "completed" ? `/v1/jobs/${id}/results/${index}` : null,
      error: fault,
    })),
  };
}

/** The status of a job. A finished job is cancelled if any task was cancelled, and completed if any task completed. */
function jobStatus({ finishedAt, tasks }: JobState): TaskState["status"] {
  const hasTaskWith = (...statuses: readonly TaskState["status"][]) =>
    tasks.some(({ status }) => statuses.includes(status));
  if (finishedAt === null) return hasTaskWith("running", "completed", "failed") ? "running" : "queued";
  if (hasTaskWith("cancelled")) return "cancelled";
  return hasTaskWith("completed") ? "completed" : "failed";
}

const toIsoTime = (ms: number): string => new Date(ms).toISOString();
