import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { TaskResult } from "../../core/ports/page-jobs.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { convertIfNeeded, readBytes, type ServableAnswer } from "../cache/answer-cache.ts";
import type { QueuedTask } from "../jobs/job-table.ts";
import { assertClientKeyValid } from "../limits/page-caller.ts";
import { getMetadataAnswer, readMetadataRequest } from "../metadata/endpoints.ts";
import { getTechnologiesAnswer, readTechnologiesRequest } from "../technologies/endpoints.ts";
import { getThumbnailAnswer } from "../thumbnails/endpoints.ts";
import { readThumbnailRequest } from "../thumbnails/thumbnail-parameters.ts";

/** The rate limit has already counted the task, when the request started its job. */
const ADMITTED = Promise.resolve();

/** Runs one task of a job, like a request for it at this time. Throws GatewayError. */
export async function runTask(platform: Platform, task: QueuedTask): Promise<TaskResult> {
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
    // No stale answers: no client is waiting, so there is time to make a new one.
    if (task.operation === "technologies") {
      const request = readTechnologiesRequest(query, platform.variables.pages);
      return await toTaskResult(getTechnologiesAnswer(work, withoutStale(request), ADMITTED));
    }
    if (task.operation === "metadata") {
      const request = readMetadataRequest(query, platform.variables.pages);
      return await toTaskResult(getMetadataAnswer(work, withoutStale(request), ADMITTED));
    }
    const request = readThumbnailRequest(query, platform.variables.pages);
    return await toTaskResult(getThumbnailAnswer(work, withoutStale(request), ADMITTED));
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

function withoutStale<T extends { readonly freshness: { readonly maxAge: number } }>(request: T): T {
  return { ...request, freshness: { maxAge: request.freshness.maxAge, staleFor: 0 } };
}
