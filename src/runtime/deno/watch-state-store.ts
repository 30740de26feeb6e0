import { quarantineDamagedRows } from "../../core/storage/damaged-rows.ts";
import { type Sql, textIn } from "../../core/storage/sql.ts";
import type { WatcherOptions, WatchState } from "../../operator/alerts/watcher.ts";

/** Stores the watcher's state in a database: reported problems and unsent messages. It survives the process. */
export function createWatchStateStore(sql: Sql): Pick<WatcherOptions, "load" | "save"> {
  sql.all(
    "create table if not exists alert_memory(id integer primary key check (id = 1), state text not null)",
  );
  quarantineDamagedRows(sql, [{ table: "alert_memory", json: { state: "object" } }]);
  return {
    load: () => {
      const [row] = sql.all("select state from alert_memory");
      if (row === undefined) return null;
      const state: WatchState = JSON.parse(textIn(row, "state"));
      return state;
    },
    save: (state) => {
      sql.all("insert or replace into alert_memory values(1, ?)", JSON.stringify(state));
    },
  };
}
