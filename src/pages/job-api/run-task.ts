import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { PageOperation, TaskResult } from "../../core/ports/page-jobs.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { convertIfNeeded, readBytes, type ServableAnswer } from "../answers/answer.ts";
import { CONTENT } from "../content/endpoints.ts";
import { readPageAddressOptions } from "../http/page-address.ts";
import type { PageSource } from "../http/page-setup-parameters.ts";
import type { QueuedTask } from "../jobs/job-table.ts";
import { assertClientKeyValid, clientAccess } from "../limits/page-caller.ts";
import { METADATA } from "../metadata/endpoints.ts";
import type { Operation, OperationRequest } from "../operations/define-operation.ts";
import type { PageWork } from "../operations/page-work.ts";
import { TECHNOLOGIES } from "../technologies/endpoints.ts";
import { THUMBS } from "../thumbnails/endpoints.ts";
import { uploadResult } from "./deliver.ts";

/** The rate limit has already counted the task, when the request started its job. */
const ADMITTED = Promise.resolve();

/**
 * Runs one task of a job, like a request for it at this time. Throws GatewayError.
 *
 * @param isWanted false once the job was cancelled, or has ended
 */
export async function runTask(
  platform: Platform,
  task: QueuedTask,
  isWanted: () => boolean,
): Promise<TaskResult> {
  const background: Promise<unknown>[] = [];
  const work = {
    platform,
    url: new URL(task.origin),
    client: task.client,
    waitUntil: (promise: Promise<unknown>) => void background.push(promise),
  };
  const query = new URLSearchParams(task.query);
  try {
    // The key may have been revoked since.
    const { config } = await platform.configuration.read();
    await assertClientKeyValid(config, task.client, platform.now());
    const source = { ...readPageAddressOptions(platform.variables), access: clientAccess(task.client) };
    const result = await toTaskResult(RUN[task.operation](work, query, source));
    if (task.uploadUrl !== null && isWanted()) await uploadResult(platform, task.uploadUrl, result);
    return result;
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError(500, "internal error", { code: "internal_error", cause: thrown });
  } finally {
    await Promise.all(background);
  }
}

/** The part of an answer that a job stores. */
async function toTaskResult(answer: Promise<ServableAnswer>): Promise<TaskResult> {
  const { body, headers, madeAt } = await convertIfNeeded(await answer);
  return { body: await readBytes(body), headers, madeAt };
}

type RunOperation = (work: PageWork, query: URLSearchParams, source: PageSource) => Promise<ServableAnswer>;

/** No stale answers: no client is waiting, so there is time to make a new one. */
function runner<Request extends OperationRequest>(operation: Operation<Request>): RunOperation {
  return async (work, query, source) => {
    const request = operation.read(query, source);
    const freshness = { maxAge: request.freshness.maxAge, staleFor: 0 };
    return operation.getAnswer(work, { ...request, freshness }, ADMITTED);
  };
}

const RUN: Readonly<Record<PageOperation, RunOperation>> = {
  thumbs: runner(THUMBS),
  technologies: runner(TECHNOLOGIES),
  metadata: runner(METADATA),
  content: runner(CONTENT),
};
