import * as z from "zod";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { Context } from "../../platform/context.ts";
import type { JobState } from "../../platform/page-jobs.ts";
import { type Endpoint, json, open } from "../../routing/endpoint.ts";
import { LOOK_HEADERS, LOOK_STATUSES, RESULT_HEADERS, RESULT_STATUSES } from "../described.ts";
import { answerResponse, foundAnswer } from "../kept-answers.ts";
import { metadataSchema } from "../metadata/result.ts";
import { technologiesSchema } from "../technologies/answers.ts";
import { PICTURES, thumbnailSchema } from "../thumbnails/endpoints.ts";
import { jobResponse, jobSchema } from "./view.ts";

/** Endpoints of the page service's jobs. The id of a job is its only credential. */
export const JOB_ENDPOINTS: readonly Endpoint[] = [
  open({
    method: "GET",
    path: "/v1/jobs/:id",
    summary: "State of a job",
    answers: json(jobSchema),
    headers: LOOK_HEADERS,
    statuses: LOOK_STATUSES,
    handler: async (context, { params }) => jobResponse(await jobOf(context, params["id"])),
  }),
  open({
    method: "DELETE",
    path: "/v1/jobs/:id",
    summary: "Cancel a job",
    answers: json(jobSchema),
    headers: LOOK_HEADERS,
    statuses: LOOK_STATUSES,
    handler: async ({ platform }, { params }) => {
      const job = await platform.pages.jobs.cancel(params["id"] ?? "");
      if (job === null) throw noJob();
      return jobResponse(job);
    },
  }),
  open({
    method: "GET",
    path: "/v1/jobs/:id/results/:place",
    summary: "What came of one address of a job",
    answers: () => ({
      ...PICTURES,
      "application/json": z.union([thumbnailSchema(), technologiesSchema(), metadataSchema()]),
    }),
    headers: RESULT_HEADERS,
    statuses: RESULT_STATUSES,
    handler: async (context, { params }) => {
      const job = await jobOf(context, params["id"]);
      const place = /^\d{1,3}$/.test(params["place"] ?? "") ? Number(params["place"]) : -1;
      const task = job.tasks[place];
      if (task === undefined) throw noJob("This job has no such result.");
      const found = await context.platform.pages.jobs.result(job.id, place);
      if (found === null) throw noResult(task);
      const lifetime = Math.max(1, Math.floor((job.expiresAt - context.platform.now()) / 1_000));
      const answer = await foundAnswer(found, lifetime);
      const response = await answerResponse(context, answer, { maxAge: lifetime, staleFor: 0 });
      response.headers.set("cache-control", `private, max-age=${lifetime}`);
      response.headers.delete("age");
      response.headers.set("referrer-policy", "no-referrer");
      return response;
    },
  }),
];

async function jobOf({ platform }: Context, id = ""): Promise<JobState> {
  const job = await platform.pages.jobs.get(id);
  if (job === null) throw noJob();
  return job;
}

function noJob(message = "There is no such job, or not any more."): GatewayError {
  return new GatewayError(404, message, { code: "job_not_found" });
}

/** Why a task has no result: its own error, or its state. */
function noResult({ status, fault }: JobState["tasks"][number]): GatewayError {
  if (fault !== null) {
    const { status: failed, message, code } = fault;
    return new GatewayError(failed, message, { code });
  }
  return status === "cancelled"
    ? new GatewayError(409, "This has been cancelled.", { code: "job_cancelled" })
    : new GatewayError(409, "This is not done yet.", {
        code: "job_not_finished",
        headers: { "retry-after": "2" },
      });
}
