import type { HistoryWrite } from "../../core/ports/archive.ts";
import { withDeadline } from "../../core/ports/clock.ts";
import {
  createPackKey,
  PACK_PREFIX,
  type PackedRecord,
  type RecordPack,
  type RecordTexts,
  readPackTime,
  type TextLocation,
} from "../../core/ports/record-packs.ts";

/** Limits of one pack: number of records, and characters of their summaries. A row of a Durable Object holds 2 MB. */
const MAX_RECORDS = 200;
const MAX_SUMMARY_CHARS = 400_000;
/** A pack younger than this may still be unknown to the archive, because its message is still on its way. */
const MAX_IN_TRANSIT_MS = 600_000;
/** A stored pack is reported again for this long. The archive must know it before the pack counts as old. */
const REUSE_MS = MAX_IN_TRANSIT_MS / 2;
const PUT_TIMEOUT_MS = 10_000;
/** Keys to list or delete in one call: the platform's limit. */
const KEYS_AT_ONCE = 1_000;
/** List calls per sweep. The archive keeps at most 100,000 records, and few are alone in their pack. */
const MAX_LISTS = 200;

const SPACE = 0x20;

/** A pack with the body to store in the bucket. */
interface FilledPack extends RecordPack {
  readonly body: Uint8Array;
}

/** Groups records into packs. A body is the JSON of the records' texts, one after the other. */
function buildPacks(records: readonly HistoryWrite[], now: number): FilledPack[] {
  const packs: FilledPack[] = [];
  let openRecords: PackedRecord[] = [];
  let bodies: Uint8Array[] = [];
  let bytes = 0;
  let chars = 0;
  const close = () => {
    const body = new Uint8Array(bytes);
    for (const [index, { at }] of openRecords.entries()) body.set(bodies[index] ?? [], at);
    packs.push({ key: createPackKey(now), records: openRecords, body });
    openRecords = [];
    bodies = [];
    bytes = 0;
    chars = 0;
  };
  for (const { summary, request, reasoning, content } of records) {
    const length = JSON.stringify(summary).length;
    if (openRecords.length > 0 && (openRecords.length >= MAX_RECORDS || chars + length > MAX_SUMMARY_CHARS))
      close();
    const texts: RecordTexts = {
      ...(request ?? { messages: "[]", prompt: "", options: "" }),
      reasoning,
      content,
    };
    const body = new TextEncoder().encode(JSON.stringify(texts));
    openRecords.push({ summary, at: bytes, bytes: body.length });
    bodies.push(body);
    bytes += body.length;
    chars += length;
  }
  if (openRecords.length > 0) close();
  return packs;
}

/**
 * Puts the texts of ended generations into a bucket. A pack that is stored but not yet acknowledged is reused, not stored
 * again: a second copy would remain in the bucket.
 */
export class PackWriter {
  readonly #bucket: R2Bucket;
  readonly #timeoutMs: number;
  /** Stored records, by id, until the archive has acknowledged them. */
  readonly #unacknowledged = new Map<string, { readonly key: string; readonly record: PackedRecord }>();

  /** @param timeoutMs time limit for one put; a sweep deletes what is stored later */
  constructor(bucket: R2Bucket, timeoutMs = PUT_TIMEOUT_MS) {
    this.#bucket = bucket;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the texts are stored. Call {@link markAcknowledged} when the archive has acknowledged the packs. */
  async put(records: readonly HistoryWrite[], now: number): Promise<RecordPack[]> {
    for (const [id, { key }] of this.#unacknowledged)
      if (readPackTime(key) < now - REUSE_MS) this.#unacknowledged.delete(id);
    const packs = new Map<string, PackedRecord[]>();
    const newWrites: HistoryWrite[] = [];
    for (const write of records) {
      const known = this.#unacknowledged.get(write.summary.id);
      if (known === undefined) newWrites.push(write);
      else packs.set(known.key, [...(packs.get(known.key) ?? []), known.record]);
    }
    const results = await Promise.allSettled(
      buildPacks(newWrites, now).map(async ({ key, records: packed, body }) => {
        await withDeadline(this.#bucket.put(key, body), this.#timeoutMs, bucketTimeout);
        for (const record of packed) this.#unacknowledged.set(record.summary.id, { key, record });
        packs.set(key, [...packed]);
      }),
    );
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return Array.from(packs, ([key, packed]) => ({ key, records: packed }));
  }

  markAcknowledged(packs: readonly RecordPack[]): void {
    for (const { records } of packs)
      for (const { summary } of records) this.#unacknowledged.delete(summary.id);
  }
}

const bucketTimeout = () => new Error("the bucket did not answer in time");

/** Reads the texts of a record; empty if they were erased. */
export async function readRecordTexts(
  bucket: R2Bucket | undefined,
  location: TextLocation,
): Promise<RecordTexts> {
  const { key, at, bytes } = location;
  const object = await bucket?.get(key, { range: { offset: at, length: bytes } });
  const json = (await object?.text())?.trim() ?? "";
  if (json === "") return { messages: "[]", prompt: "", options: "", reasoning: "", content: "" };
  // Packs of older versions have no options.
  const texts: RecordTexts = { options: "", ...JSON.parse(json) };
  return texts;
}

/**
 * Overwrites the texts of some records of one pack; the others keep their places. Must not run twice at once for one object.
 */
export async function eraseRecordTexts(
  bucket: R2Bucket,
  key: string,
  locations: readonly TextLocation[],
): Promise<void> {
  const object = await bucket.get(key);
  if (object === null) return;
  const body = new Uint8Array(await object.arrayBuffer());
  for (const { at, bytes } of locations) body.fill(SPACE, at, at + bytes);
  await bucket.put(key, body);
}

export async function deletePacks(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    await bucket.delete(keys.slice(at, at + KEYS_AT_ONCE));
  }
}

/**
 * Deletes packs that the archive does not know, oldest first: packs whose records were dropped, and packs that no message
 * reported. Objects that are no packs stay.
 *
 * @param known keys of the packs that the archive knows
 * @param now Unix milliseconds
 * @returns whether unknown packs may remain that are too young to delete
 */
export async function sweepPacks(
  bucket: R2Bucket,
  known: ReadonlySet<string>,
  now: number,
): Promise<boolean> {
  let cursor: string | undefined;
  for (let listCalls = 0; listCalls < MAX_LISTS; listCalls += 1) {
    const listed = await bucket.list({
      prefix: PACK_PREFIX,
      limit: KEYS_AT_ONCE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const unknown = listed.objects.map(({ key }) => key).filter((key) => !known.has(key));
    const oldKeys = unknown.filter((key) => readPackTime(key) < now - MAX_IN_TRANSIT_MS);
    if (oldKeys.length > 0) await bucket.delete(oldKeys);
    // Keys sort by age: all further packs are younger.
    if (unknown.some((key) => readPackTime(key) >= now - MAX_IN_TRANSIT_MS)) return true;
    if (!listed.truncated) return false;
    ({ cursor } = listed);
  }
  return true;
}
