import {
  countCharacters,
  type HistoryRecord,
  type HistorySummary,
  type HistoryWrite,
} from "../../core/ports/archive.ts";
import { LOST_AFTER_MS } from "./history-filter.ts";

/** Limit of running generations; those without an update for longest are dropped first. */
const MAX_RECORDS = 5_000;
/** Limit of characters of their texts; beyond it, only lists show a generation's progress. */
const MAX_CHARS = 16 * 1024 * 1024;

/** The state of a running generation. */
interface RunningRecord {
  readonly write: HistoryWrite;
  readonly heard: number;
}

/**
 * Records of running generations, in memory: storing them would cost as much again as storing the outcome. A restart loses
 * nothing for long, because the next update arrives within seconds.
 */
export class RunningRecords {
  readonly #records = new Map<string, RunningRecord>();
  #chars = 0;

  /** The newest summary of each. */
  get summaries(): HistorySummary[] {
    return Array.from(this.#records.values(), ({ write }) => write.summary);
  }

  /** Adds an update at `now` (Unix milliseconds); drops it if a newer one is known. */
  put(update: HistoryWrite, now: number): void {
    const { id } = update.summary;
    const known = this.#records.get(id)?.write;
    if (known !== undefined && known.summary.updated_at > update.summary.updated_at) return;
    const merged = { ...update, request: update.request ?? known?.request ?? null };
    this.remove(id);
    const write =
      this.#chars + countCharacters(merged) > MAX_CHARS
        ? { ...merged, request: null, reasoning: "", content: "" }
        : merged;
    this.#records.set(id, { write, heard: now });
    this.#chars += countCharacters(write);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS) return;
      this.remove(oldest);
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
      options: request?.options ?? "",
      reasoning,
      content,
    };
  }

  /** Removes a record; false if there is none. */
  remove(id: string): boolean {
    const known = this.#records.get(id);
    if (known === undefined) return false;
    this.#records.delete(id);
    this.#chars -= countCharacters(known.write);
    return true;
  }

  /** Records without an update for long: their isolates have ended. */
  findLost(now: number): HistoryWrite[] {
    return [...this.#records.values()].flatMap(({ write, heard }) =>
      heard <= now - LOST_AFTER_MS ? [write] : [],
    );
  }
}
