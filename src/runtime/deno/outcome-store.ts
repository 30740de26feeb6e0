import type { OutcomeStore } from "../../core/ports/outcome-store.ts";
import type { Sql } from "../../core/storage/sql.ts";
import type { SqlArchive } from "../../records/archive/sql-archive.ts";
import type { SqlUsage } from "../../records/usage/sql-usage.ts";

/** Writes outcomes to the database of history and usage. */
export function createOutcomeStore(
  sql: Sql,
  archive: Pick<SqlArchive, "writeEnded" | "invalidateCache">,
  usage: Pick<SqlUsage, "note">,
): OutcomeStore {
  return {
    write({ retention, records, used, endedAt }) {
      // Usually another request of the same moment has written the record. A single statement needs no transaction.
      if (records.length === 0) return used === null ? undefined : usage.note(used, endedAt);
      let note: number | undefined;
      try {
        sql.transaction(() => {
          archive.writeEnded(retention, records);
          if (used !== null) note = usage.note(used, endedAt);
        });
      } catch (error) {
        archive.invalidateCache();
        throw error;
      }
      return note;
    },
  };
}
