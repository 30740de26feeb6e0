import { USAGE_DIMENSIONS } from "../../core/ports/usage.ts";
import { type Sql, textIn } from "../../core/storage/sql.ts";

const NAMES = USAGE_DIMENSIONS.join(", ");
/** The defaults are for an earlier version that finds the table. */
const COLUMNS = `id integer primary key, ${USAGE_DIMENSIONS.map((name) => `${name} text not null default ''`).join(", ")}, unique(${NAMES})`;

/** Creates the table of combinations of dimensions. A table of an earlier version gets the dimensions that it lacks. */
export function createDimensionTable(sql: Sql): void {
  sql.all(`create table if not exists usage_dimension(${COLUMNS})`);
  const existing = sql
    .all("select name from pragma_table_info('usage_dimension')")
    .map((row) => textIn(row, "name"));
  const isComplete = USAGE_DIMENSIONS.every((name) => existing.includes(name));
  if (isComplete) return;
  const known = ["id", ...USAGE_DIMENSIONS.filter((name) => existing.includes(name))].join(", ");
  // All columns together are unique, so columns alone cannot be added.
  sql.transaction(() => {
    sql.all(`create table usage_dimension_new(${COLUMNS})`);
    sql.all(`insert into usage_dimension_new(${known}) select ${known} from usage_dimension`);
    sql.all("drop table usage_dimension");
    sql.all("alter table usage_dimension_new rename to usage_dimension");
  });
}
