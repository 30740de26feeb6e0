import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** Activity of the gateway. Each list has one value per step. Times are Unix milliseconds, durations milliseconds. */
export type Activity = AnswerOf<"GET /admin/activity">;

export const readActivity = (range: string, signal?: AbortSignal) =>
  callApi("GET /admin/activity", { query: { range }, signal });
