import type { HistoryRecord, HistorySummary } from "./archive.ts";

/** The location of one record's texts: a byte range of a bucket object, which holds a {@link RecordTexts} as JSON. */
export interface TextLocation {
  /** The object's key. */
  readonly key: string;
  /** Offset and number of bytes. */
  readonly at: number;
  readonly bytes: number;
}

/** The long texts of a record. */
export type RecordTexts = Pick<HistoryRecord, "messages" | "prompt" | "options" | "reasoning" | "content">;

/** A record in a pack: its summary, and the byte range of its texts within the pack's object. */
export interface PackedRecord extends Omit<TextLocation, "key"> {
  readonly summary: HistorySummary;
}

/** Finished records whose texts are in one bucket object. */
export interface RecordPack {
  readonly key: string;
  readonly records: readonly PackedRecord[];
}

/** A record whose texts must be fetched. */
export interface LocatedRecord {
  readonly summary: HistorySummary;
  readonly place: TextLocation;
}

/** Number of digits after {@link PACK_PREFIX} with the creation time: Unix milliseconds, zero-padded. */
const TIME_DIGITS = 15;

/** Prefix of all pack keys. */
export const PACK_PREFIX = "history/";

/** Creates a unique pack key. Keys sort by creation time `now` (Unix milliseconds). */
export function createPackKey(now: number): string {
  return `${PACK_PREFIX}${String(now).padStart(TIME_DIGITS, "0")}-${crypto.randomUUID()}`;
}

/** Creation time of a pack from its key, Unix milliseconds; NaN if it is no pack key. */
export function readPackTime(key: string): number {
  if (!key.startsWith(PACK_PREFIX)) return Number.NaN;
  const digits = key.slice(PACK_PREFIX.length, PACK_PREFIX.length + TIME_DIGITS);
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}
