import {
  type Archive,
  type ArchiveBatch,
  EndedRecordsLost,
  type HistoryRecord,
  type HistoryWrite,
  isRefusalId,
} from "../../core/ports/archive.ts";
import type { RecordPack } from "../../core/ports/record-packs.ts";
import type { Env } from "./env.ts";
import { PackWriter, readRecordTexts } from "./pack-bucket.ts";

/**
 * Stamps a message with the time of sending. Waiting and the upload to the bucket must not make its contents look younger.
 */
const withSentAt = (batch: ArchiveBatch): ArchiveBatch => ({ ...batch, sentAt: Date.now() });

/**
 * The archive of a deployment: one Durable Object behind the binding `HISTORY`. Where `HISTORY_BUCKET` is bound, the texts
 * of ended generations go directly to the bucket, dozens of records in one object.
 *
 * @param putTimeoutMs time limit for one put to the bucket
 */
export function createArchive(env: Env, putTimeoutMs?: number): Archive {
  // A stub fails for ever after its object has restarted, so each call takes a new one.
  const object = () => env.HISTORY.getByName("main");
  const { HISTORY_BUCKET: bucket } = env;
  const writer = bucket === undefined ? null : new PackWriter(bucket, putTimeoutMs);
  return {
    requiresWholeRecords: bucket !== undefined,
    write: async (batch) => {
      if (writer === null) return object().write(withSentAt(batch));
      // Refused requests have no texts for the bucket.
      const isPacked = ({ summary }: HistoryWrite) =>
        summary.status !== "streaming" && !isRefusalId(summary.id);
      const rest = { ...batch, records: batch.records.filter((record) => !isPacked(record)) };
      let packs: RecordPack[];
      try {
        packs = await writer.put(batch.records.filter(isPacked), Date.now());
      } catch (cause) {
        // The rest of the batch does not depend on the bucket.
        await object().writePacked(withSentAt(rest), []);
        throw new EndedRecordsLost("the texts are not in the bucket", { cause });
      }
      await object().writePacked(withSentAt(rest), packs);
      writer.markAcknowledged(packs);
    },
    applyRetention: (retention) => object().retain(retention),
    listHistory: (query) => object().listHistory(query),
    readHistory: async (id): Promise<HistoryRecord | null> => {
      const record = await object().readHistory(id);
      if (record === null || !("place" in record)) return record;
      return { ...record.summary, ...(await readRecordTexts(bucket, record.place)) };
    },
    deleteHistory: (id) => object().deleteHistory(id),
    clearHistory: () => object().clearHistory(),
    eraseKey: (key) => object().eraseKey(key),
    listCaptures: () => object().listCaptures(),
    readCapture: (id) => object().readCapture(id),
    clearCaptures: () => object().clearCaptures(),
    listChains: (q, limit) => object().chains(q, limit),
    saveSample: (selector, sampleId, provider) => object().saveSample(selector, sampleId, provider),
    listSamples: () => object().listSamples(),
    readSample: (sampleId) => object().readSample(sampleId),
    deleteSample: (sampleId) => object().deleteSample(sampleId),
    readMetrics: () => object().metrics(),
  };
}
