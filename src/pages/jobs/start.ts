import type * as z from "zod";
import { GatewayError, invalidRequest } from "../../errors/gateway-error.ts";
import type { Context } from "../../platform/context.ts";
import type { NewTask, PageOperation, TaskFault } from "../../platform/page-jobs.ts";
import { checkPageUrl, MAX_URL_LENGTH, type UrlSafetyOptions } from "../../url-safety/index.ts";
import { QueryParameters } from "../parameters.ts";
import type { thumbnailBatchSchema } from "../query-schemas.ts";
import { type Call, rateLimited } from "../rate-limit.ts";
import { MAX_JOBS } from "./job-book.ts";
import { jobResponse } from "./view.ts";

/** Characters of a task's query without the address. */
const MAX_OPTIONS = 8_192;
/** Stands for any address while the options are looked at. */
const SOME_PAGE = "https://example.com/";
const TOO_LONG: TaskFault = {
  status: 400,
  code: "url_too_long",
  message: `The parameter url may have at most ${MAX_URL_LENGTH} characters.`,
};

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

/** The one task of a call whose query has been found right. Throws a 400 when there is too much of it to be kept. */
export function oneTask(query: URLSearchParams): NewTask {
  const url = (query.get("url") ?? "").trim();
  const options = new URLSearchParams(query);
  options.delete("url");
  checkLength(options);
  if (url.length <= MAX_URL_LENGTH) return taskOf(url, options);
  throw new GatewayError(400, TOO_LONG.message, { code: TOO_LONG.code, param: "url" });
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
    // Fifty copies of the options are made for nobody who is refused.
    await call.admitted;
    refuseOptionsIn(call.query);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options)) {
      for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
    }
    checkLength(query);
    check(withAddress(SOME_PAGE, query));
    const { pages } = context.platform.variables;
    const tasks = urls.map((url): NewTask => {
      const fault = faultOf(url, pages);
      // Of a long text its beginning is enough to know it by.
      return fault === null ? taskOf(url, query) : { url: url.slice(0, MAX_URL_LENGTH), query: "", fault };
    });
    return startJob(context, call, operation, tasks);
  }, urls.length);
  return counted(context);
}

/** Answers a list that cannot be read: it counts as a call, and is told what calls are told. */
export function refuseBatch(context: Context, fault: unknown): Promise<Response> {
  const counted = rateLimited(async (_, { admitted }) => {
    await admitted;
    throw fault;
  });
  return counted(context);
}

/** Throws a 400 for what would have no effect beside a body. */
function refuseOptionsIn(query: URLSearchParams): void {
  const [name] = query.keys();
  if (name === undefined) return;
  const shown = name.slice(0, 40);
  throw invalidRequest(`The parameter ${shown} has to be in the body, beside urls.`, shown);
}

function taskOf(url: string, options: URLSearchParams): NewTask {
  return { url, query: `${withAddress(url, options)}`, fault: null };
}

function withAddress(url: string, options: URLSearchParams): URLSearchParams {
  return new URLSearchParams([["url", url], ...options]);
}

/** Why an address may not be loaded; null: it may. */
function faultOf(url: string, safety: UrlSafetyOptions): TaskFault | null {
  const checked = checkPageUrl(url, safety);
  if (!checked.ok) return { status: 400, code: checked.code, message: checked.message };
  // What the parser passes over is kept all the same.
  return url.length > MAX_URL_LENGTH ? TOO_LONG : null;
}

/** What is asked for is kept as it was written, with all its spaces. Throws a 400. */
function checkLength(options: URLSearchParams): void {
  if (`${options}`.length <= MAX_OPTIONS) return;
  throw invalidRequest(
    `The parameters of a job may have ${MAX_OPTIONS} characters in all, beside its addresses.`,
  );
}
