import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { NewTask, PageOperation, TaskError } from "../../core/ports/page-jobs.ts";
import { MAX_URL_LENGTH } from "../../core/url-safety/index.ts";
import { checkPageAddress, type PageAddressOptions, readPageAddressOptions } from "../http/page-address.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { type PageCall, withRateLimit } from "../limits/rate-limit.ts";
import type { JobDelivery } from "./delivery-parameters.ts";
import { createJobResponse } from "./job-response.ts";
import { MAX_UNFINISHED_JOBS } from "./job-scheduler.ts";

/** Maximum characters of a task's query without the address. */
const MAX_OPTION_CHARACTERS = 8_192;
/** A placeholder address for validating the options. */
const PLACEHOLDER_PAGE = "https://example.com/";
const URL_TOO_LONG: TaskError = {
  status: 400,
  code: "url_too_long",
  message: `The parameter url may have at most ${MAX_URL_LENGTH} characters.`,
};

/** Whether a call requests a job (`async`). Throws a 400 for an invalid boolean. */
export function wantsJob({ url }: Pick<Context, "url">): boolean {
  return new QueryParameters(url.searchParams).boolean("async", false);
}

/** Starts a job for a call; the answer contains the job's address. Throws GatewayError. */
export async function startJob(
  context: Context,
  { client, admitted }: Pick<PageCall, "client" | "admitted">,
  operation: PageOperation,
  tasks: readonly NewTask[],
  { webhook, uploadUrls }: JobDelivery,
): Promise<Response> {
  await admitted;
  const { origin } = context.url;
  const job = await context.platform.pages.jobs.create({
    client,
    operation,
    origin,
    tasks: tasks.map((task, n) => ({
      ...task,
      ...(uploadUrls[n] !== undefined && { uploadUrl: uploadUrls[n] }),
    })),
    ...(webhook !== null && { webhook }),
  });
  if (job !== null) return createJobResponse(job, 202);
  throw new GatewayError(
    429,
    `A client may have ${MAX_UNFINISHED_JOBS} unfinished jobs, whose parameters fit into its share of the storage.`,
    {
      code: "job_limit_exceeded",
      headers: { "retry-after": "10" },
    },
  );
}

/** Creates the single task of a call with a valid query. Throws a 400 if the query is too long to store. */
export function createSingleTask(query: URLSearchParams): NewTask {
  const url = (query.get("url") ?? "").trim();
  const options = new URLSearchParams(query);
  options.delete("url");
  assertQueryLength(options);
  if (url.length <= MAX_URL_LENGTH) return createTask(url, options);
  throw new GatewayError(400, URL_TOO_LONG.message, { code: URL_TOO_LONG.code, param: "url" });
}

/**
 * Starts one job for a list of addresses. Each address counts as a call. A forbidden address fails its own task; any
 * other error fails the request.
 *
 * @param check throws if a query or the delivery is invalid; returns the delivery
 */
export function startBatch(
  context: Context,
  operation: PageOperation,
  urls: readonly string[],
  options: Readonly<Record<string, unknown>>,
  check: (query: URLSearchParams, call: PageCall) => JobDelivery,
): Promise<Response> {
  const start = withRateLimit(async (_, call) => {
    // Wait for the rate limit first, so that refused calls do not cost fifty copies of the options.
    await call.admitted;
    rejectQueryOptions(call.query);
    const query = toQuery(options);
    assertQueryLength(query);
    const delivery = check(withAddress(PLACEHOLDER_PAGE, query), call);
    const addressOptions = readPageAddressOptions(context.platform.variables);
    const tasks = urls.map((url): NewTask => {
      const error = findTaskError(url, addressOptions);
      // The beginning of a long address is enough to recognize it.
      return error === null
        ? createTask(url, query)
        : { url: url.slice(0, MAX_URL_LENGTH), query: "", fault: error };
    });
    return startJob(context, call, operation, tasks, delivery);
  }, urls.length);
  return start(context);
}

/** The options of a body as a query. */
export function toQuery(options: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  return query;
}

/** Answers an unreadable body. It counts as a call, and the answer has the rate limit headers. */
export function rejectBody(context: Context, error: unknown): Promise<Response> {
  const reject = withRateLimit(async (_, { admitted }) => {
    await admitted;
    throw error;
  });
  return reject(context);
}

/** Throws a 400 for query parameters that would have no effect together with a body. */
export function rejectQueryOptions(query: URLSearchParams): void {
  const [name] = query.keys();
  if (name === undefined) return;
  const shownName = name.slice(0, 40);
  throw invalidRequest(`The parameter ${shownName} has to be in the body.`, shownName);
}

function createTask(url: string, options: URLSearchParams): NewTask {
  return { url, query: `${withAddress(url, options)}`, fault: null };
}

function withAddress(url: string, options: URLSearchParams): URLSearchParams {
  return new URLSearchParams([["url", url], ...options]);
}

/** Why an address may not be loaded; null if it may. */
function findTaskError(url: string, options: PageAddressOptions): TaskError | null {
  const check = checkPageAddress(url, options);
  if (!check.ok) return { status: 400, code: check.code, message: check.message };
  // The URL parser ignores some characters, but the task stores them too.
  return url.length > MAX_URL_LENGTH ? URL_TOO_LONG : null;
}

/** Checks the length of the query as it will be stored. Throws a 400. */
function assertQueryLength(options: URLSearchParams): void {
  if (`${options}`.length <= MAX_OPTION_CHARACTERS) return;
  throw invalidRequest(
    `The parameters of a job may have ${MAX_OPTION_CHARACTERS} characters in all, beside its addresses.`,
  );
}
