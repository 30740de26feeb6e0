import { migrateTables } from "./expiring-store-migration.ts";
import { numberIn, type Sql, textIn } from "./sql.ts";
import { TextTable } from "./text-table.ts";

/** A storable JSON value with its id and its expiry. */
export interface ExpiringObject {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Storage limits for one owner and one kind. */
export interface OwnerQuota {
  /** Total characters of the objects' JSON. */
  readonly characters: number;
  readonly objects: number;
}

/** Characters added per object of an unverified caller, for its overhead. */
const OBJECT_OVERHEAD_CHARACTERS = 500;

/** After this many new characters of unverified callers, the store checks their total again. */
const CHECK_INTERVAL_CHARACTERS = 1_000_000;

/** The kinds of stored objects, with their types. */
type Kinds<K> = { readonly [Kind in keyof K]: ExpiringObject };

/**
 * Stores JSON values of any size until they expire. Each value is identified by its owner, kind and id. If an owner
 * exceeds the quota, the oldest values are evicted first. The tables are created with the first value, so an unused
 * database stays empty.
 */
export class ExpiringStore<K extends Kinds<K>> {
  readonly #sql: Sql;
  readonly #quota: OwnerQuota;
  readonly #maxUnverifiedCharacters: number;
  /** Null until the tables exist. */
  #texts: TextTable | null = null;
  /** Characters of unverified callers stored since the last check of their total. */
  #charactersSinceCheck = Number.POSITIVE_INFINITY;

  /** `maxUnverifiedCharacters` limits the total of all unverified callers, over all kinds. */
  constructor(sql: Sql, quota: OwnerQuota, maxUnverifiedCharacters = Number.POSITIVE_INFINITY) {
    this.#sql = sql;
    this.#quota = quota;
    this.#maxUnverifiedCharacters = maxUnverifiedCharacters;
    const tables = sql.all("select name from sqlite_master where type='table'");
    const names = new Set(tables.map((row) => textIn(row, "name")));
    if (names.has("kept_object")) this.#texts = createTables(sql);
    migrateTables(sql, names, () => {
      this.#texts ??= createTables(sql);
    });
  }

  /** A stored value; null if there is none, or if it has expired at `now` (milliseconds since the epoch). */
  get<Kind extends keyof K & string>(owner: string, kind: Kind, id: string, now: number): K[Kind] | null {
    if (this.#texts === null) return null;
    const [row] = this.#sql.all(
      "select seq from kept_object where owner=? and kind=? and id=? and expires>?",
      owner,
      kind,
      id,
      now,
    );
    return row === undefined ? null : JSON.parse(this.#texts.get(String(numberIn(row, "seq")), ""));
  }

  /** All values of a kind that have not expired at `now` (milliseconds since the epoch), oldest first. */
  list<Kind extends keyof K & string>(owner: string, kind: Kind, now: number): K[Kind][] {
    const texts = this.#texts;
    if (texts === null) return [];
    return this.#sql
      .all(
        "select seq from kept_object where owner=? and kind=? and expires>? order by seq",
        owner,
        kind,
        now,
      )
      .map((row) => JSON.parse(texts.get(String(numberIn(row, "seq")), "")));
  }

  /**
   * Stores a value and replaces an earlier one with the same owner, kind and id. Ignores a value that alone exceeds the
   * owner's quota. `isUnverified`: the owner is an unverified caller, that is, one without a managed key.
   */
  put<Kind extends keyof K & string>(owner: string, kind: Kind, value: K[Kind], isUnverified = false): void {
    this.#texts ??= createTables(this.#sql);
    const texts = this.#texts;
    const text = JSON.stringify(value);
    if (text.length > this.#quota.characters) return;
    this.#sql.transaction(() => {
      const [row] = this.#sql.all(
        "insert into kept_object(owner, kind, id, expires, size, stranger) values(?,?,?,?,?,?) on conflict(owner, kind, id) do update set expires=excluded.expires, size=excluded.size returning seq",
        owner,
        kind,
        value.id,
        value.expiresAt,
        text.length,
        Number(isUnverified),
      );
      texts.put(String(numberIn(row, "seq")), "", text);
      this.#evictOldest(texts, owner, kind);
      if (isUnverified) this.#evictUnverified(texts, text.length + OBJECT_OVERHEAD_CHARACTERS);
    });
  }

  /** Deletes a value. Returns false if there was none, or if it had expired at `now`. */
  remove<Kind extends keyof K & string>(owner: string, kind: Kind, id: string, now: number): boolean {
    const texts = this.#texts;
    if (texts === null) return false;
    let wasLive = false;
    this.#sql.transaction(() => {
      const [row] = this.#sql.all(
        "delete from kept_object where owner=? and kind=? and id=? returning seq, expires",
        owner,
        kind,
        id,
      );
      if (row === undefined) return;
      texts.delete(String(numberIn(row, "seq")));
      wasLive = numberIn(row, "expires") > now;
    });
    return wasLive;
  }

  /** Deletes all values of an owner. Returns their number. */
  removeAll(owner: string): number {
    const texts = this.#texts;
    if (texts === null) return 0;
    let count = 0;
    this.#sql.transaction(() => {
      texts.deleteOwners("select cast(seq as text) from kept_object where owner=?", owner);
      count = this.#sql.all("delete from kept_object where owner=? returning seq", owner).length;
    });
    return count;
  }

  /**
   * Evicts the oldest values of an owner and kind until they fit the quota. The cost depends on the number of evicted
   * values only.
   */
  #evictOldest(texts: TextTable, owner: string, kind: string): void {
    while (this.#exceedsQuota(owner, kind)) {
      const [oldest] = this.#sql.all(
        "delete from kept_object where seq=(select seq from kept_object where owner=? and kind=? order by seq limit 1) returning seq",
        owner,
        kind,
      );
      if (oldest === undefined) return;
      texts.delete(String(numberIn(oldest, "seq")));
    }
  }

  /**
   * Evicts the oldest values of unverified callers, from time to time. A quota per owner is not enough: an unverified
   * caller can use any number of credentials.
   */
  #evictUnverified(texts: TextTable, characters: number): void {
    this.#charactersSinceCheck += characters;
    if (this.#charactersSinceCheck < Math.min(CHECK_INTERVAL_CHARACTERS, this.#maxUnverifiedCharacters))
      return;
    this.#charactersSinceCheck = 0;
    const [total] = this.#sql.all(
      "select coalesce(sum(size + ?), 0) characters from kept_object where stranger=1",
      OBJECT_OVERHEAD_CHARACTERS,
    );
    let excess = numberIn(total, "characters") - this.#maxUnverifiedCharacters;
    while (excess > 0) {
      const [oldest] = this.#sql.all(
        "delete from kept_object where seq=(select seq from kept_object where stranger=1 order by seq limit 1) returning seq, size",
      );
      if (oldest === undefined) return;
      texts.delete(String(numberIn(oldest, "seq")));
      excess -= numberIn(oldest, "size") + OBJECT_OVERHEAD_CHARACTERS;
    }
  }

  #exceedsQuota(owner: string, kind: string): boolean {
    const [total] = this.#sql.all(
      "select objects, characters from kept_total where owner=? and kind=?",
      owner,
      kind,
    );
    const { objects, characters } = this.#quota;
    return numberIn(total, "objects") > objects || numberIn(total, "characters") > characters;
  }

  /**
   * Deletes all values that have expired at `now`, milliseconds since the epoch.
   *
   * @returns when the next value expires; null if the store is empty
   */
  deleteExpired(now: number): number | null {
    const texts = this.#texts;
    if (texts === null) return null;
    this.#sql.transaction(() => {
      texts.deleteOwners("select cast(seq as text) from kept_object where expires<=?", now);
      this.#sql.all("delete from kept_object where expires<=?", now);
    });
    const [row] = this.#sql.all("select expires from kept_object order by expires limit 1");
    return row === undefined ? null : numberIn(row, "expires");
  }
}

/**
 * Metadata of the values; `kept_text` holds their texts in chunks, by `seq`. `size` is the number of characters of the
 * text.
 */
function createTables(sql: Sql): TextTable {
  sql.all(
    "create table if not exists kept_object(seq integer primary key, owner text not null, kind text not null, id text not null, expires integer not null, size integer not null default 0, unique(owner, kind, id))",
  );
  const [table] = sql.all("select sql from sqlite_master where name='kept_object'");
  if (!/\bsize\b/.test(textIn(table, "sql"))) {
    sql.all("alter table kept_object add column size integer not null default 0");
  }
  if (!/\bstranger\b/.test(textIn(table, "sql"))) {
    sql.all("alter table kept_object add column stranger integer not null default 0");
  }
  sql.all("create index if not exists kept_object_expires on kept_object(expires)");
  sql.all("create index if not exists kept_object_stranger on kept_object(seq, size) where stranger=1");
  // For the oldest objects of an owner and kind.
  sql.all("create index if not exists kept_object_size on kept_object(owner, kind, seq, size)");
  createTotals(sql);
  return new TextTable(sql, "kept_text");
}

/**
 * Triggers update the totals, so that also earlier versions of the program, which do not know the totals, keep them
 * correct. Create `kept_removed` last: its existence marks the totals as complete.
 */
const TOTALS_TRIGGERS = {
  kept_added:
    "insert on kept_object begin insert into kept_total values(new.owner, new.kind, 1, new.size) on conflict(owner, kind) do update set objects=objects+1, characters=characters+new.size; end",
  kept_resized:
    "update of size on kept_object begin update kept_total set characters=characters+new.size-old.size where owner=new.owner and kind=new.kind; end",
  kept_removed:
    "delete on kept_object begin update kept_total set objects=objects-1, characters=characters-old.size where owner=old.owner and kind=old.kind; delete from kept_total where owner=old.owner and kind=old.kind and objects<=0; end",
};

/** Creates the totals per owner and kind, in one transaction. */
function createTotals(sql: Sql): void {
  const existing = sql.all("select name from sqlite_master where type='trigger' and name='kept_removed'");
  if (existing.length > 0) return;
  sql.transaction(() => {
    sql.all(
      "create table if not exists kept_total(owner text not null, kind text not null, objects integer not null, characters integer not null, primary key(owner, kind)) without rowid",
    );
    sql.all("delete from kept_total");
    sql.all(
      "insert into kept_total select owner, kind, count(*), total(size) from kept_object group by owner, kind",
    );
    for (const [name, body] of Object.entries(TOTALS_TRIGGERS)) {
      sql.all(`create trigger if not exists ${name} after ${body}`);
    }
  });
}
