import type { HistoryWrite } from "../archive.ts";
import {
  PACK_PREFIX,
  type PackedRecord,
  packKey,
  packTime,
  type RecordPack,
  type RecordTexts,
  type TextPlace,
} from "../record-packs.ts";

/** Records of one pack, and characters of their summaries: a row of a Durable Object takes 2 MB. */
const MAX_RECORDS = 200;
const MAX_SUMMARY_CHARS = 400_000;
/** A pack that nobody knows may be on its way for so long. */
const YOUNG_MS = 600_000;
/** A put pack is told of for so long: it has to be known before it is old. */
const REUSE_MS = YOUNG_MS / 2;
const PUT_TIMEOUT_MS = 10_000;
/** So many keys are listed, and deleted, at once: as many as the platform takes. */
const KEYS_AT_ONCE = 1_000;
/** Times that a sweep lists keys: the most records that are kept are 100,000, and few are alone in their pack. */
const MAX_LISTS = 200;

const SPACE = 0x20;

/** A pack with what is to be put into the bucket. */
interface FilledPack extends RecordPack {
  readonly body: Uint8Array;
}

/** Records as packs: their texts, as JSON and one after the other, are the objects' bodies. */
function packsOf(records: readonly HistoryWrite[], now: number): FilledPack[] {
  const packs: FilledPack[] = [];
  let open: PackedRecord[] = [];
  let bodies: Uint8Array[] = [];
  let bytes = 0;
  let chars = 0;
  const close = () => {
    const body = new Uint8Array(bytes);
    for (const [index, { at }] of open.entries()) body.set(bodies[index] ?? [], at);
    packs.push({ key: packKey(now), records: open, body });
    open = [];
    bodies = [];
    bytes = 0;
    chars = 0;
  };
  for (const { summary, request, reasoning, content } of records) {
    const length = JSON.stringify(summary).length;
    if (open.length > 0 && (open.length >= MAX_RECORDS || chars + length > MAX_SUMMARY_CHARS)) close();
    const { messages, prompt } = request ?? { messages: "[]", prompt: "" };
    const texts: RecordTexts = { messages, prompt, reasoning, content };
    const body = new TextEncoder().encode(JSON.stringify(texts));
    open.push({ summary, at: bytes, bytes: body.length });
    bodies.push(body);
    bytes += body.length;
    chars += length;
  }
  if (open.length > 0) close();
  return packs;
}

/**
 * Puts the texts of what has ended into a bucket. What has been put once, and may not have been heard of, is not put again: another
 * copy of it would be left in the bucket.
 */
export class PackWriter {
  readonly #bucket: R2Bucket;
  readonly #timeoutMs: number;
  /** Records that were put, by their ids, until somebody has heard of them. */
  readonly #untold = new Map<string, { readonly key: string; readonly record: PackedRecord }>();

  /** @param timeoutMs how long a put may take: what comes in later is swept away */
  constructor(bucket: R2Bucket, timeoutMs = PUT_TIMEOUT_MS) {
    this.#bucket = bucket;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the texts are there. {@link told} is to be called when the packs were heard of. */
  async put(records: readonly HistoryWrite[], now: number): Promise<RecordPack[]> {
    for (const [id, { key }] of this.#untold) if (packTime(key) < now - REUSE_MS) this.#untold.delete(id);
    const packs = new Map<string, PackedRecord[]>();
    const fresh: HistoryWrite[] = [];
    for (const write of records) {
      const known = this.#untold.get(write.summary.id);
      if (known === undefined) fresh.push(write);
      else packs.set(known.key, [...(packs.get(known.key) ?? []), known.record]);
    }
    const done = await Promise.allSettled(
      packsOf(fresh, now).map(async ({ key, records: packed, body }) => {
        await withinTime(this.#bucket.put(key, body), this.#timeoutMs);
        for (const record of packed) this.#untold.set(record.summary.id, { key, record });
        packs.set(key, [...packed]);
      }),
    );
    const failed = done.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return Array.from(packs, ([key, packed]) => ({ key, records: packed }));
  }

  told(packs: readonly RecordPack[]): void {
    for (const { records } of packs) for (const { summary } of records) this.#untold.delete(summary.id);
  }
}

async function withinTime(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the bucket did not answer in time")), milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The texts of a record; empty ones where they have been erased. */
export async function readTexts(bucket: R2Bucket | undefined, place: TextPlace): Promise<RecordTexts> {
  const { key, at, bytes } = place;
  const object = await bucket?.get(key, { range: { offset: at, length: bytes } });
  const json = (await object?.text())?.trim() ?? "";
  if (json === "") return { messages: "[]", prompt: "", reasoning: "", content: "" };
  const texts: RecordTexts = JSON.parse(json);
  return texts;
}

/** Overwrites the texts of records of one pack: those beside them stay where they are. Not to be done twice at once to one object. */
export async function eraseTexts(bucket: R2Bucket, key: string, places: readonly TextPlace[]): Promise<void> {
  const object = await bucket.get(key);
  if (object === null) return;
  const body = new Uint8Array(await object.arrayBuffer());
  for (const { at, bytes } of places) body.fill(SPACE, at, at + bytes);
  await bucket.put(key, body);
}

/** Deletes packs. */
export async function deletePacks(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    await bucket.delete(keys.slice(at, at + KEYS_AT_ONCE));
  }
}

/**
 * Deletes packs that nobody knows (any more), the oldest first: what has been dropped, and what no message told of. What is no pack
 * stays.
 *
 * @param known the keys of those that are known
 * @param now Unix milliseconds
 * @returns whether some may be left that are too young
 */
export async function sweepPacks(
  bucket: R2Bucket,
  known: ReadonlySet<string>,
  now: number,
): Promise<boolean> {
  let cursor: string | undefined;
  for (let lists = 0; lists < MAX_LISTS; lists += 1) {
    const listed = await bucket.list({
      prefix: PACK_PREFIX,
      limit: KEYS_AT_ONCE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const unknown = listed.objects.map(({ key }) => key).filter((key) => !known.has(key));
    const old = unknown.filter((key) => packTime(key) < now - YOUNG_MS);
    if (old.length > 0) await bucket.delete(old);
    // Those behind it are younger still.
    if (unknown.some((key) => packTime(key) >= now - YOUNG_MS)) return true;
    if (!listed.truncated) return false;
    ({ cursor } = listed);
  }
  return true;
}
