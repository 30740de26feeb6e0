import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** Current slots and queue. The numbers cover everything; the lists contain only the first entries. */
export type QueueStatus = AnswerOf<"GET /admin/queue/status">;
export type Cooldown = QueueStatus["cooldowns"][number];

/** Entries per list on screens, independent of the number of accounts. */
export const QUEUE_SHOWN = 16;

/** `limit`: maximum entries per list; null: all entries, for callers that search the lists. */
export const readQueue = (limit: number | null, signal?: AbortSignal) =>
  callApi("GET /admin/queue/status", { query: limit === null ? {} : { most: String(limit) }, signal });
