import { truncateText } from "../../core/encoding/text-slices.ts";
import type { Capture, CaptureChain, CaptureSummary } from "../../core/ports/captures.ts";
import { numberIn, type Sql, type SqlRow, textIn } from "../../core/storage/sql.ts";
import type { TextTable } from "../../core/storage/text-table.ts";
import { DeletionWatermark } from "./deletion-watermark.ts";

/** Limit of characters of all captured bodies together; the oldest captures are dropped first. */
const MAX_TOTAL_CHARS = 128 * 1024 * 1024;
const PREVIEW_CHARS = 2_000;
const CHAIN_PREVIEW_CHARS = 200;

type Head = Omit<Capture, "request_body" | "response_body">;

/** Captured exchanges, newest first. */
export class CaptureTable {
  readonly #sql: Sql;
  readonly #texts: TextTable;
  readonly #watermark: DeletionWatermark;

  constructor(sql: Sql, texts: TextTable, now: () => number) {
    this.#sql = sql;
    this.#texts = texts;
    this.#watermark = new DeletionWatermark(sql, "captures", now);
    sql.all(
      "create table if not exists capture(seq integer primary key, id text unique not null, at integer not null, chain text not null, chars integer not null, head text not null)",
    );
    sql.all("create index if not exists capture_chain on capture(chain)");
  }

  /**
   * Stores captures, except those made before the last clearing.
   *
   * @param sentAt see `ArchiveBatch`
   */
  putAll(captures: readonly Capture[], sentAt: number | undefined): void {
    if (captures.length === 0) return;
    const until = this.#watermark.deletedUntil(sentAt);
    for (const capture of captures) if (capture.at > until(capture.key)) this.#put(capture);
  }

  #put({ request_body, response_body, ...head }: Capture): void {
    this.#sql.all(
      "insert or ignore into capture(id, at, chain, chars, head) values(?,?,?,?,?)",
      head.id,
      head.at,
      head.chain_key,
      request_body.length + response_body.length,
      JSON.stringify(head),
    );
    this.#texts.put(head.id, "request", request_body);
    this.#texts.put(head.id, "response", response_body);
  }

  /** Keeps the newest `maxCount` captures, fewer if they are long, and drops the rest. */
  trim(maxCount: number): void {
    let count = 0;
    let chars = 0;
    for (const row of this.#sql.all("select id, chars from capture order by at desc, seq desc")) {
      count += 1;
      chars += numberIn(row, "chars");
      if (count > maxCount || (count > 1 && chars > MAX_TOTAL_CHARS)) this.#remove(textIn(row, "id"));
    }
  }

  list(): CaptureSummary[] {
    return this.#sql.all("select head from capture order by at desc, seq desc").map((row) => {
      const head = parseHead(row);
      return {
        ...head,
        request_preview: truncateText(this.#texts.get(head.id, "request"), PREVIEW_CHARS),
        response_preview: truncateText(this.#texts.get(head.id, "response"), PREVIEW_CHARS),
      };
    });
  }

  read(id: string): Capture | null {
    const row = this.#sql.all("select head from capture where id=?", id)[0];
    if (row === undefined) return null;
    return {
      ...parseHead(row),
      request_body: this.#texts.get(id, "request"),
      response_body: this.#texts.get(id, "response"),
    };
  }

  /** Removes all captures. Captures that were made before but arrive later are dropped, too. */
  clear(): number {
    this.#watermark.advance();
    const rows = this.#sql.all("select id from capture");
    for (const row of rows) this.#remove(textIn(row, "id"));
    return rows.length;
  }

  /** Removes the captures of an API key, as {@link clear} does. Returns their ids. */
  eraseKey(key: string): string[] {
    this.#watermark.advance(key);
    const rows = this.#sql.all("select id from capture where json_extract(head, '$.key')=?", key);
    const ids = rows.map((row) => textIn(row, "id"));
    for (const id of ids) this.#remove(id);
    return ids;
  }

  /** The ids of a chain's captures, oldest first. */
  listChainCaptures(chainKey: string): readonly string[] {
    return this.#sql
      .all("select id from capture where chain=? order by at, seq", chainKey)
      .map((row) => textIn(row, "id"));
  }

  /** Chains with a capture that contains `q`, ignoring case; ordered by their newest capture, latest first. */
  chains(q: string, limit: number): CaptureChain[] {
    const keys = this.#sql.all(
      "select chain from capture where chain<>'' group by chain order by max(at) desc, max(seq) desc",
    );
    const searchText = q.toLowerCase();
    const chains: CaptureChain[] = [];
    for (const row of keys) {
      if (chains.length >= limit) break;
      const rounds = this.listChainCaptures(textIn(row, "chain")).flatMap((id) => this.read(id) ?? []);
      const [first] = rounds;
      if (first === undefined || !rounds.some((round) => containsText(round, searchText))) continue;
      chains.push({
        chain_key: first.chain_key,
        capture_ids: rounds.map(({ id }) => id),
        round_count: rounds.length,
        initial_label: first.label,
        request_preview: truncateText(first.request_body, CHAIN_PREVIEW_CHARS),
        response_preview: truncateText(
          rounds.map((round) => round.response_body).join("\n"),
          CHAIN_PREVIEW_CHARS,
        ),
      });
    }
    return chains;
  }

  #remove(id: string): void {
    this.#sql.all("delete from capture where id=?", id);
    this.#texts.delete(id);
  }
}

function parseHead(row: SqlRow): Head {
  // Captures of older versions have no `key`.
  const head: Head = { key: "", ...JSON.parse(textIn(row, "head")) };
  return head;
}

/** `searchText` is in lower case. */
function containsText(capture: Capture, searchText: string): boolean {
  if (searchText === "") return true;
  const { id, chain_key, label, request_id, request_body, response_body } = capture;
  return [id, chain_key, label, request_id, request_body, response_body].some((text) =>
    text.toLowerCase().includes(searchText),
  );
}
