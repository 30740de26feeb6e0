import * as z from "zod/mini";
import { messageOf } from "../../api/client.ts";
import { readMetrics, type Sample } from "../../api/metrics.ts";
import { QUEUE_SHOWN, type QueueStatus, readQueue } from "../../api/queue.ts";
import { session } from "../../session.ts";
import { createStore } from "../../store.ts";
import { staleNote } from "../../ui/use-loaded.ts";
import { type Reading, readingOf } from "./readings.ts";

/** How often the queue is read. */
const TICK_MS = 2_000;
/** How often a reading is kept, which is every third. */
const KEEP_EVERY = 3;
/** How far back the charts go. */
export const HOUR_MS = 3_600_000;
const KEY = "polygate.readings";
const NOTHING: readonly Sample[] = [];

const reading = z.object({
  at: z.number(),
  inUse: z.number(),
  waiting: z.number(),
  requests: z.number(),
  errors: z.number(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  firstTokenSeconds: z.number(),
  firstTokens: z.number(),
});

function stored(): Reading[] {
  try {
    const parsed = z.array(reading).safeParse(JSON.parse(sessionStorage.getItem(KEY) ?? "[]"));
    return parsed.success ? parsed.data.filter(({ at }) => at > Date.now() - HOUR_MS) : [];
  } catch {
    return [];
  }
}

/** What is seen live, and the readings of the last hour, oldest first. */
export interface Recording {
  readonly queue: QueueStatus | null;
  readonly readings: readonly Reading[];
  readonly error: string;
}

/** The readings outlive a reload of the page, as the session does. */
export const recording = createStore<Recording>({ queue: null, readings: stored(), error: "" });

let timer: ReturnType<typeof setTimeout> | undefined;
let ticks = 0;
/** When the queue was read last, Unix milliseconds. */
let seenAt = 0;

async function tick(): Promise<void> {
  const { readings } = recording.get();
  const keeps = ticks % KEEP_EVERY === 0;
  ticks += 1;
  const [queue, metrics] = await Promise.allSettled([
    readQueue(QUEUE_SHOWN),
    keeps ? readMetrics() : NOTHING,
  ]);
  const failed = [queue, metrics].find((result) => result.status === "rejected");
  if (queue.status === "fulfilled") seenAt = Date.now();
  const error = failed === undefined ? "" : messageOf(failed.reason) + staleNote(seenAt);
  const live = queue.status === "fulfilled" ? queue.value : recording.get().queue;
  if (!keeps || live === null || queue.status === "rejected" || metrics.status === "rejected") {
    return recording.set({ queue: live, readings, error });
  }
  const now = Date.now();
  const kept = [...readings.filter(({ at }) => at > now - HOUR_MS), readingOf(metrics.value, now, live)];
  recording.set({ queue: live, readings: kept, error });
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}

/** Goes on for as long as somebody is signed in, on whatever page, so that the charts have no holes. */
export function startRecording(): void {
  if (timer !== undefined) return;
  const run = async () => {
    if (session.get() === "in") await tick();
    timer = setTimeout(run, TICK_MS);
  };
  timer = setTimeout(run, 0);
}

/** Nothing of one person's session is shown to the next. */
session.watch((state) => {
  if (state !== "out") return;
  sessionStorage.removeItem(KEY);
  recording.set({ queue: null, readings: [], error: "" });
});
