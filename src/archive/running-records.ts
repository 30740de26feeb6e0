import type { HistoryRecord, HistorySummary, HistoryWrite } from "../platform/archive.ts";
import { LOST_AFTER_MS } from "./history-filter.ts";

/** Generations that are shown while they run; of more, those that were heard of last. */
const MAX_RECORDS = 5_000;
/** Characters of their texts that are held; beyond that only lists show how far a generation is. */
const MAX_CHARS = 16 * 1024 * 1024;

/** What is known of a generation under way. */
interface Running {
  readonly write: HistoryWrite;
  readonly heard: number;
}

/**
 * Records of generations that have not ended, in memory: written down they would cost as much again as what comes of them, and a
 * restart loses nothing that the next news, within seconds, does not bring back.
 */
export class RunningRecords {
  readonly #records = new Map<string, Running>();
  #chars = 0;

  /** Of the newest news of each. */
  get summaries(): HistorySummary[] {
    return Array.from(this.#records.values(), ({ write }) => write.summary);
  }

  /** Takes news at `now` (Unix milliseconds); what is older than what is known is dropped. */
  put(news: HistoryWrite, now: number): void {
    const { id } = news.summary;
    const known = this.#records.get(id)?.write;
    if (known !== undefined && known.summary.updated_at > news.summary.updated_at) return;
    const whole = { ...news, request: news.request ?? known?.request ?? null };
    this.forget(id);
    const write =
      this.#chars + charsOf(whole) > MAX_CHARS
        ? { ...whole, request: null, reasoning: "", content: "" }
        : whole;
    this.#records.set(id, { write, heard: now });
    this.#chars += charsOf(write);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS) return;
      this.forget(oldest);
    }
  }

  read(id: string): HistoryRecord | null {
    const write = this.#records.get(id)?.write;
    if (write === undefined) return null;
    const { summary, request, reasoning, content } = write;
    return {
      ...summary,
      messages: request?.messages ?? "[]",
      prompt: request?.prompt ?? "",
      reasoning,
      content,
    };
  }

  /** False when there is none of this id. */
  forget(id: string): boolean {
    const known = this.#records.get(id);
    if (known === undefined) return false;
    this.#records.delete(id);
    this.#chars -= charsOf(known.write);
    return true;
  }

  /** Those of which nobody has heard for long: their isolates are gone. */
  lost(now: number): HistoryWrite[] {
    return [...this.#records.values()].flatMap(({ write, heard }) =>
      heard <= now - LOST_AFTER_MS ? [write] : [],
    );
  }
}

function charsOf({ request, reasoning, content }: HistoryWrite): number {
  return (request?.messages.length ?? 0) + (request?.prompt.length ?? 0) + reasoning.length + content.length;
}
