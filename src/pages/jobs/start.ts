import type * as z from "zod";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { Context } from "../../platform/context.ts";
import type { NewTask, PageOperation } from "../../platform/page-jobs.ts";
import { QueryParameters } from "../parameters.ts";
import type { thumbnailBatchSchema } from "../query-schemas.ts";
import { type Call, rateLimited } from "../rate-limit.ts";
import { MAX_JOBS } from "./job-book.ts";
import { jobResponse } from "./view.ts";

/** Whether a call wants to be answered at once, and its work done as a job. Throws a 400 for what is neither yes nor no. */
export function wantsJob({ url }: Pick<Context, "url">): boolean {
  return new QueryParameters(url.searchParams).boolean("async", false);
}

/** Has a call done as a job; the answer says where to look. Throws GatewayError. */
export async function startJob(
  context: Context,
  { client, admitted }: Pick<Call, "client" | "admitted">,
  operation: PageOperation,
  tasks: readonly NewTask[],
): Promise<Response> {
  await admitted;
  const { origin } = context.url;
  const job = await context.platform.pages.jobs.create({ client, operation, origin, tasks });
  if (job !== null) return jobResponse(job, 202);
  throw new GatewayError(
    429,
    `You may have ${MAX_JOBS} jobs that are not over, and so much room for what they are asked for.`,
    {
      code: "job_limit_exceeded",
      headers: { "retry-after": "10" },
    },
  );
}

/** The one task of a call whose query has been found right. */
export function oneTask(query: URLSearchParams): NewTask {
  return { url: query.get("url") ?? "", query: `${query}`, fault: null };
}

/** Bytes of a body with as many addresses as there may be, each as long as it may be. */
export const MAX_BATCH_BYTES = 512 * 1024;

/**
 * Has a list of addresses done as one job. Each counts as a call. An address that may not be loaded is told with its task, everything else that is
 * wrong at once.
 *
 * @param check throws what is wrong with a query of the operation
 */
export function startBatch(
  context: Context,
  operation: PageOperation,
  { urls, ...options }: z.output<typeof thumbnailBatchSchema>,
  check: (query: URLSearchParams) => unknown,
): Promise<Response> {
  const counted = rateLimited(async (_, call) => {
    const tasks = urls.map((url) => {
      const query = new URLSearchParams({ url });
      for (const [name, value] of Object.entries(options)) {
        for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
      }
      return taskOf(url, query, check);
    });
    return startJob(context, call, operation, tasks);
  }, urls.length);
  return counted(context);
}

function taskOf(url: string, query: URLSearchParams, check: (query: URLSearchParams) => unknown): NewTask {
  try {
    check(query);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param !== "url") throw thrown;
    const { status, code, message } = thrown;
    return { url, query: `${query}`, fault: { status, code, message } };
  }
  return { url, query: `${query}`, fault: null };
}
