import * as z from "zod";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { JobState } from "../../core/ports/page-jobs.ts";
import { type Endpoint, jsonResponse, openEndpoint } from "../../core/routing/endpoint.ts";
import { createJobAnswer } from "../answers/answer.ts";
import { createResponse } from "../answers/answer-response.ts";
import { contentSchema } from "../content/result.ts";
import {
  JOB_STATE_HEADERS,
  JOB_STATE_STATUSES,
  RESULT_HEADERS,
  RESULT_STATUSES,
} from "../http/openapi-descriptions.ts";
import { createJobResponse, jobSchema } from "../jobs/job-response.ts";
import { metadataSchema } from "../metadata/result.ts";
import { technologiesSchema } from "../technologies/result-schema.ts";
import { PICTURE_SCHEMAS, thumbnailSchema } from "../thumbnails/endpoints.ts";

/** Endpoints of the page service's jobs. The id of a job is its only credential. */
export const JOB_ENDPOINTS: readonly Endpoint[] = [
  openEndpoint({
    method: "GET",
    path: "/v1/jobs/:id",
    summary: "State of a job",
    answers: jsonResponse(jobSchema),
    headers: JOB_STATE_HEADERS,
    statuses: JOB_STATE_STATUSES,
    handler: async (context, { params }) => createJobResponse(await getJob(context, params["id"])),
  }),
  openEndpoint({
    method: "DELETE",
    path: "/v1/jobs/:id",
    summary: "Cancel a job",
    answers: jsonResponse(jobSchema),
    headers: JOB_STATE_HEADERS,
    statuses: JOB_STATE_STATUSES,
    handler: async ({ platform }, { params }) => {
      const job = await platform.pages.jobs.cancel(params["id"] ?? "");
      if (job === null) throw jobNotFound();
      return createJobResponse(job);
    },
  }),
  openEndpoint({
    method: "GET",
    path: "/v1/jobs/:id/results/:place",
    summary: "Result of one address of a job",
    answers: () => ({
      ...PICTURE_SCHEMAS,
      "application/json": z.union([
        thumbnailSchema(),
        technologiesSchema(),
        metadataSchema(),
        contentSchema(),
      ]),
      "text/plain": z.string(),
    }),
    headers: RESULT_HEADERS,
    statuses: RESULT_STATUSES,
    handler: async (context, { params }) => {
      const job = await getJob(context, params["id"]);
      const index = /^\d{1,3}$/.test(params["place"] ?? "") ? Number(params["place"]) : -1;
      const task = job.tasks[index];
      if (task === undefined) throw jobNotFound("This job has no such result.");
      const result = await context.platform.pages.jobs.result(job.id, index);
      if (result === null) throw resultUnavailable(task);
      const lifetime = Math.max(1, Math.floor((job.expiresAt - context.platform.now()) / 1_000));
      const answer = await createJobAnswer(result, lifetime);
      const response = await createResponse(context, answer, { maxAge: lifetime, staleFor: 0 });
      response.headers.set("cache-control", `private, max-age=${lifetime}`);
      response.headers.delete("age");
      response.headers.set("referrer-policy", "no-referrer");
      return response;
    },
  }),
];

async function getJob({ platform }: Context, id = ""): Promise<JobState> {
  const job = await platform.pages.jobs.get(id);
  if (job === null) throw jobNotFound();
  return job;
}

function jobNotFound(message = "The job does not exist, or no longer."): GatewayError {
  return new GatewayError(404, message, { code: "job_not_found" });
}

/** Why a task has no result: its own error, or its state. */
function resultUnavailable({ status, fault }: JobState["tasks"][number]): GatewayError {
  if (fault !== null) {
    const { status: failed, message, code } = fault;
    return new GatewayError(failed, message, { code });
  }
  // The job was deleted after its state was read.
  if (status === "completed") return jobNotFound();
  return status === "cancelled"
    ? new GatewayError(409, "This has been cancelled.", { code: "job_cancelled" })
    : new GatewayError(409, "This is not done yet.", {
        code: "job_not_finished",
        headers: { "retry-after": "2" },
      });
}
