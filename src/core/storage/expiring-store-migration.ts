import type { Sql } from "./sql.ts";

/**
 * Migrates the tables of version 3.0 and earlier to the tables of `ExpiringStore`, and drops them. A Durable Object had
 * `response` with `piece`, and `file`. A process had `kept`; its `piece` table belongs to another store.
 *
 * @param names the existing tables
 * @param createTables creates the new tables; called before any row is moved
 */
export function migrateTables(sql: Sql, names: ReadonlySet<string>, createTables: () => void): void {
  const moves = [
    ...(names.has("response") ? RESPONSE_STATEMENTS : []),
    ...(names.has("file") ? FILE_STATEMENTS : []),
    ...(names.has("kept") ? KEPT_STATEMENTS : []),
  ];
  if (moves.length === 0) return;
  createTables();
  sql.transaction(() => {
    for (const move of moves) sql.all(move);
  });
}

// Rows that already exist in the new tables are newer: do not replace them.
const INSERT_OBJECTS = "insert or ignore into kept_object(owner, kind, id, expires)";
const INSERT_TEXTS = "insert into kept_text(owner, name, n, text)";
const HAS_NO_TEXT = "not exists (select 1 from kept_text known where known.owner = cast(seq as text))";

const RESPONSE_STATEMENTS = [
  `${INSERT_OBJECTS} select '', 'response', id, expires from response`,
  `${INSERT_TEXTS} select cast(seq as text), '', old.n, old.text from piece old join kept_object using(id) where kept_object.owner = '' and kind = 'response' and ${HAS_NO_TEXT}`,
  "drop table piece",
  "drop table response",
];

const FILE_STATEMENTS = [
  `${INSERT_OBJECTS} select '', 'file', id, expires from file`,
  `${INSERT_TEXTS} select cast(seq as text), '', 0, old.text from file old join kept_object using(id) where kept_object.owner = '' and kind = 'file' and ${HAS_NO_TEXT}`,
  "drop table file",
];

const KEPT_STATEMENTS = [
  `${INSERT_OBJECTS} select owner, kind, id, expires from kept`,
  `${INSERT_TEXTS} select cast(seq as text), '', 0, old.text from kept old join kept_object using(owner, kind, id) where ${HAS_NO_TEXT}`,
  "drop table kept",
];
