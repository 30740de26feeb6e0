import type { ChangeNote, ConfigSnapshot, EditNote, FieldChange } from "../../core/config/snapshot.ts";
import type { AuditEntry, AuditLog, AuditQuery, ConfigBackup, SignIn } from "../../core/ports/audit-log.ts";
import { MAX_DATE_MS, retryWithoutDamagedRows, type TableCheck } from "../../core/storage/damaged-rows.ts";
import { numberIn, type Sql, type SqlRow, type SqlValue, textIn } from "../../core/storage/sql.ts";
import { TextTable } from "../../core/storage/text-table.ts";

const MAX_ENTRIES = 10_000;
const MAX_VERSIONS = 20;
/** Limit of stored versions from before deletions. */
const MAX_DELETIONS = 10;

/** Whether a column contains a text. Not `like`: Durable Objects refuse patterns of more than 50 bytes. */
const containsText = (column: string): string => `instr(lower(${column}), lower(?)) > 0`;

/** The action of a sign-in with the admin key or the password. */
const SIGN_IN = "POST /admin/login";

/** The columns that a text search covers. */
const SEARCHED_COLUMNS = ["changes", "action", "who", "address"];

const CHECKS: readonly TableCheck[] = [
  {
    table: "audit",
    numbers: { at: MAX_DATE_MS, version: Number.MAX_SAFE_INTEGER, more: null },
    json: { changes: "array" },
  },
];

/** The audit log in a SQLite database, in a Durable Object or in a self-hosted process. */
export class SqlAuditLog implements AuditLog {
  readonly #sql: Sql;
  readonly #texts: TextTable;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#texts = new TextTable(sql, "kept_config");
    sql.all(
      "create table if not exists audit(id integer primary key autoincrement, at integer not null, version integer not null, who text not null, address text not null, action text not null, changes text not null, more integer not null)",
    );
    sql.all(
      "create table if not exists kept_version(version integer primary key, at integer not null, who text not null, action text not null, keys integer not null, accounts integer not null)",
    );
  }

  /** Records an edit of the configuration `before` that created version `after`. */
  recordEdit(before: ConfigSnapshot, after: number, note: EditNote): void {
    this.#sql.transaction(() => {
      if (note.keep) this.#storeVersion(before, note);
      if (note.forget) this.#deleteVersions("select version from kept_version");
      this.#add(note, after);
    });
  }

  recordEntry(note: ChangeNote): void {
    this.#sql.transaction(() => this.#add(note, 0));
  }

  listEntries(query: AuditQuery): { items: AuditEntry[]; total: number } {
    return retryWithoutDamagedRows(this.#sql, CHECKS, () => this.#list(query));
  }

  #list({ page, pageSize, who, action, q, since, until }: AuditQuery): {
    items: AuditEntry[];
    total: number;
  } {
    const conditions: { readonly text: string; readonly values: readonly SqlValue[] }[] = [];
    const add = (isPresent: boolean, text: string, ...values: SqlValue[]) => {
      if (isPresent) conditions.push({ text, values });
    };
    add(who !== "", "who = ?", who);
    add(action !== "", containsText("action"), action);
    add(q !== "", `(${SEARCHED_COLUMNS.map(containsText).join(" or ")})`, ...SEARCHED_COLUMNS.map(() => q));
    add(since !== 0, "at >= ?", since);
    add(until !== 0, "at < ?", until);
    const where = conditions.length === 0 ? "" : ` where ${conditions.map(({ text }) => text).join(" and ")}`;
    const values = conditions.flatMap(({ values: given }) => given);
    const [count] = this.#sql.all(`select count(*) as n from audit${where}`, ...values);
    const rows = this.#sql.all(
      `select * from audit${where} order by id desc limit ? offset ?`,
      ...values,
      pageSize,
      (page - 1) * pageSize,
    );
    const signIns = this.#findSignIns(rows);
    const items = rows.map((row) => toEntry(row, signIns.get(textIn(row, "who")) ?? null));
    return { items, total: numberIn(count, "n") };
  }

  /** Finds the sign-ins of the sessions in `rows`, by who. */
  #findSignIns(rows: readonly SqlRow[]): ReadonlyMap<string, SignIn> {
    const sessions = new Set(rows.map((row) => textIn(row, "who")).filter((who) => who.startsWith("token:")));
    if (sessions.size === 0) return new Map();
    const found = this.#sql.all(
      "select who, at, address from audit where action = ? and who in (select value from json_each(?))",
      SIGN_IN,
      JSON.stringify([...sessions]),
    );
    return new Map(
      found.map((row) => [textIn(row, "who"), { at: numberIn(row, "at"), address: textIn(row, "address") }]),
    );
  }

  listBackups(): ConfigBackup[] {
    return this.#sql.all("select * from kept_version order by version desc").map((row) => ({
      version: numberIn(row, "version"),
      at: numberIn(row, "at"),
      who: textIn(row, "who"),
      action: textIn(row, "action"),
      keys: numberIn(row, "keys"),
      accounts: numberIn(row, "accounts"),
    }));
  }

  readBackup(version: number): unknown {
    const text = this.#texts.get(String(version), "config");
    return text === "" ? null : JSON.parse(text);
  }

  #add({ at, who, address, action, changes, more }: ChangeNote, version: number): void {
    this.#sql.all(
      "insert into audit(at, version, who, address, action, changes, more) values(?,?,?,?,?,?,?)",
      at,
      version,
      who,
      address,
      action,
      JSON.stringify(changes),
      more,
    );
    this.#sql.all("delete from audit where id <= (select max(id) from audit) - ?", MAX_ENTRIES);
  }

  #storeVersion({ version, config }: ConfigSnapshot, { at, who, action }: EditNote): void {
    const keys = config.api_keys.length + config.keys.length;
    this.#sql.all(
      "insert or replace into kept_version values(?,?,?,?,?,?)",
      version,
      at,
      who,
      action,
      keys,
      config.accounts.length,
    );
    this.#texts.put(String(version), "config", JSON.stringify(config));
    // Versions from before deletions have their own limit, so that many deletions evict no other versions.
    for (const [condition, limit] of [
      ["action like 'DELETE %'", MAX_DELETIONS],
      ["action not like 'DELETE %'", MAX_VERSIONS],
    ]) {
      this.#deleteVersions(
        `select version from kept_version where ${condition} order by version desc limit -1 offset ${limit}`,
      );
    }
  }

  #deleteVersions(query: string): void {
    for (const row of this.#sql.all(query)) {
      const version = numberIn(row, "version");
      this.#texts.delete(String(version));
      this.#sql.all("delete from kept_version where version = ?", version);
    }
  }
}

function toEntry(row: SqlRow, session: SignIn | null): AuditEntry {
  const changes: FieldChange[] = JSON.parse(textIn(row, "changes"));
  return {
    id: numberIn(row, "id"),
    at: numberIn(row, "at"),
    version: numberIn(row, "version"),
    who: textIn(row, "who"),
    address: textIn(row, "address"),
    action: textIn(row, "action"),
    changes,
    more: numberIn(row, "more"),
    session,
  };
}
