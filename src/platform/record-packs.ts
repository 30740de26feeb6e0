import type { HistoryRecord, HistorySummary } from "./archive.ts";

/** Where the texts of one record are: bytes within an object of a bucket, which are a {@link RecordTexts} as JSON. */
export interface TextPlace {
  /** The object's key. */
  readonly key: string;
  /** The first byte, and how many there are. */
  readonly at: number;
  readonly bytes: number;
}

/** The long texts of a record. */
export type RecordTexts = Pick<HistoryRecord, "messages" | "prompt" | "reasoning" | "content">;

/** A record in a pack: what lists show, and where in the pack's object its texts are. */
export interface PackedRecord extends Omit<TextPlace, "key"> {
  readonly summary: HistorySummary;
}

/** Some records that have ended, whose texts are in one object of a bucket. */
export interface RecordPack {
  readonly key: string;
  readonly records: readonly PackedRecord[];
}

/** A record whose texts have to be fetched. */
export interface PlacedRecord {
  readonly summary: HistorySummary;
  readonly place: TextPlace;
}

/** So much of a key, after {@link PACK_PREFIX}, is the time when it was made: Unix milliseconds with zeros before. */
const TIME_DIGITS = 15;

/** What the keys of all packs begin with. */
export const PACK_PREFIX = "history/";

/** A key of its own for a pack that is made at a time (Unix milliseconds): keys are in the order of time. */
export function packKey(now: number): string {
  return `${PACK_PREFIX}${String(now).padStart(TIME_DIGITS, "0")}-${crypto.randomUUID()}`;
}

/** When a pack was made, Unix milliseconds; NaN for what is no key of a pack. */
export function packTime(key: string): number {
  if (!key.startsWith(PACK_PREFIX)) return Number.NaN;
  const digits = key.slice(PACK_PREFIX.length, PACK_PREFIX.length + TIME_DIGITS);
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}
