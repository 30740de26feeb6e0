import type { Sql } from "./sql.ts";

/**
 * Migrates the tables of version 3.0 and earlier to the tables of `ExpiringStore`, and drops them. A Durable Object had
 * `response` with `piece`, and `file`. A process had `kept`; its `piece` table belongs to another store.
 *
 * @param names the existing tables
 * @param makeTables creates the new tables; called before any row is moved
 */
export function takeOverOldTables(sql: Sql, names: ReadonlySet<string>, makeTables: () => void): void {
  const moves = [
    ...(names.has("response") ? RESPONSES : []),
    ...(names.has("file") ? FILES : []),
    ...(names.has("kept") ? KEPT : []),
  ];
  if (moves.length === 0) return;
  makeTables();
  sql.transaction(() => {
    for (const move of moves) sql.all(move);
  });
}

// Rows that already exist in the new tables are newer: do not replace them.
const OBJECTS = "insert or ignore into kept_object(owner, kind, id, expires)";
const TEXTS = "insert into kept_text(owner, name, n, text)";
const WITHOUT_TEXT = "not exists (select 1 from kept_text known where known.owner = cast(seq as text))";

const RESPONSES = [
  `${OBJECTS} select '', 'response', id, expires from response`,
  `${TEXTS} select cast(seq as text), '', old.n, old.text from piece old join kept_object using(id) where kept_object.owner = '' and kind = 'response' and ${WITHOUT_TEXT}`,
  "drop table piece",
  "drop table response",
];

const FILES = [
  `${OBJECTS} select '', 'file', id, expires from file`,
  `${TEXTS} select cast(seq as text), '', 0, old.text from file old join kept_object using(id) where kept_object.owner = '' and kind = 'file' and ${WITHOUT_TEXT}`,
  "drop table file",
];

const KEPT = [
  `${OBJECTS} select owner, kind, id, expires from kept`,
  `${TEXTS} select cast(seq as text), '', 0, old.text from kept old join kept_object using(owner, kind, id) where ${WITHOUT_TEXT}`,
  "drop table kept",
];
