import { truncateText } from "../../core/encoding/text-slices.ts";
import type { Capture, Sample, SampleMeta } from "../../core/ports/captures.ts";
import { type Sql, textIn } from "../../core/storage/sql.ts";
import type { TextTable } from "../../core/storage/text-table.ts";

const MAX_SAMPLES = 200;
/** A sample must fit into one message. */
const MAX_SAMPLE_CHARS = 10 * 1024 * 1024;
const MAX_REQUEST_CHARS = 200_000;

/** Samples, which administrators save explicitly. The oldest are dropped when there are too many. */
export class SampleTable {
  readonly #sql: Sql;
  readonly #texts: TextTable;

  constructor(sql: Sql, texts: TextTable) {
    this.#sql = sql;
    this.#texts = texts;
    sql.all(
      "create table if not exists sample(id text primary key, at integer not null, meta text not null)",
    );
  }

  /** Saves captures, oldest first, as one sample at `now`. */
  save(sampleId: string, provider: string, captures: readonly Capture[], now: number): SampleMeta {
    let upstream = "";
    const rounds = captures.map((capture) => {
      const body = truncateText(capture.response_body, MAX_SAMPLE_CHARS - upstream.length);
      upstream += body;
      return {
        capture_id: capture.id,
        key: capture.key,
        label: capture.label,
        status: capture.status,
        content_type: capture.response_headers["content-type"] ?? "",
        outcome: capture.outcome,
        request_body: truncateText(capture.request_body, MAX_REQUEST_CHARS),
        length: body.length,
      };
    });
    const meta: SampleMeta = {
      sample_id: sampleId,
      saved_at: now,
      provider,
      chain_key: captures[0]?.chain_key ?? "",
      rounds,
    };
    this.#texts.put(textKey(sampleId), "meta", JSON.stringify(meta));
    this.#texts.put(textKey(sampleId), "upstream", upstream);
    this.#sql.all(
      "insert or replace into sample values(?,?,?)",
      sampleId,
      now,
      JSON.stringify(withoutBodies(meta)),
    );
    const excess = this.#sql.all("select id from sample order by at desc limit -1 offset ?", MAX_SAMPLES);
    for (const row of excess) this.delete(textIn(row, "id"));
    return withoutBodies(meta);
  }

  list(): SampleMeta[] {
    return this.#sql
      .all("select meta from sample order by at desc, id")
      .map((row) => parseMeta(textIn(row, "meta")));
  }

  read(sampleId: string): Sample | null {
    const meta = this.#texts.get(textKey(sampleId), "meta");
    if (meta === "") return null;
    return { meta: parseMeta(meta), upstream: this.#texts.get(textKey(sampleId), "upstream") };
  }

  /** Deletes the samples with an exchange of an API key, or with one of these captures. Returns their number. */
  eraseKey(key: string, captureIds: readonly string[]): number {
    const captures = new Set(captureIds);
    const erased = this.list().filter(({ rounds }) =>
      rounds.some((round) => round.key === key || captures.has(round.capture_id)),
    );
    for (const { sample_id } of erased) this.delete(sample_id);
    return erased.length;
  }

  delete(sampleId: string): boolean {
    const existed = this.#sql.all("select 1 from sample where id=?", sampleId).length > 0;
    this.#sql.all("delete from sample where id=?", sampleId);
    this.#texts.delete(textKey(sampleId));
    return existed;
  }
}

/** Administrators choose sample ids: the prefix keeps them apart from ids of other texts. */
function textKey(sampleId: string): string {
  return `sample/${sampleId}`;
}

function parseMeta(text: string): SampleMeta {
  const meta: SampleMeta = JSON.parse(text);
  return meta;
}

function withoutBodies(meta: SampleMeta): SampleMeta {
  return { ...meta, rounds: meta.rounds.map((round) => ({ ...round, request_body: "" })) };
}
