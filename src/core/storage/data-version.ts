import { numberIn, type Sql } from "./sql.ts";

/**
 * The version of the stored data. Raise it when earlier builds would misread the data of this build. Data without a
 * version has version 1.
 */
export const DATA_VERSION = 2;

const NEWER_DATA = "A newer version of Polygate has written this data";

/** A newer build has written the data. The message says what to do. */
export class NewerDataError extends Error {
  override readonly name = "NewerDataError";
}

/** Whether an error is a {@link NewerDataError}. Of an error of a Durable Object only the message is left. */
export function isNewerDataError(error: unknown): boolean {
  return error instanceof Error && error.message.includes(NEWER_DATA);
}

/**
 * Stores this build's data version, unless it is there already.
 *
 * @throws NewerDataError if a newer build has written the data: this one would misread it
 */
export function claimDataVersion(sql: Sql): void {
  sql.all(
    "create table if not exists data_version(id integer primary key check (id = 1), version integer not null)",
  );
  const [row] = sql.all("select version from data_version where id = 1");
  const stored = numberIn(row, "version");
  if (stored > DATA_VERSION) {
    throw new NewerDataError(
      `${NEWER_DATA} (data version ${stored}; this build reads up to ${DATA_VERSION}). Nothing was changed. Run the newer version again, or restore a backup from before the upgrade.`,
    );
  }
  if (stored < DATA_VERSION) sql.all("insert or replace into data_version values(1, ?)", DATA_VERSION);
}
