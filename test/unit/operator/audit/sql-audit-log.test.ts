import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import type { ConfigSnapshot, EditNote } from "../../../../src/core/config/snapshot.ts";
import { SqlAuditLog } from "../../../../src/operator/audit/sql-audit-log.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const ALL = { page: 1, pageSize: 10, who: "", action: "", q: "", since: 0, until: 0 };

const note = (n: number, more: Partial<EditNote> = {}): EditNote => ({
  at: n,
  who: "key",
  address: "192.0.2.1",
  action: "PUT /admin/settings",
  changes: [{ path: "runtime.account_max_queue", before: "0", after: String(n) }],
  more: 0,
  keep: false,
  forget: false,
  ...more,
});

const snapshot = (version: number, key = "k"): ConfigSnapshot => ({
  version,
  config: configSchema.parse({ keys: [key] }),
  envBacked: false,
  writable: true,
});

describe("the record of changes", () => {
  it("lists the newest first, page by page, and applies the filters", () => {
    const auditLog = new SqlAuditLog(memoryDatabase());
    for (let n = 1; n <= 25; n += 1) auditLog.recordEdit(snapshot(n), n + 1, note(n));
    auditLog.recordEntry({
      ...note(26, { who: "token:100%", address: "2001:db8::1", action: "DELETE /admin/keys/:key" }),
    });
    const list = (query: Partial<typeof ALL>) => {
      const { items, total } = auditLog.listEntries({ ...ALL, ...query });
      return { total, at: items.map(({ at }) => at) };
    };
    expect(auditLog.listEntries({ ...ALL, pageSize: 1 }).items).toMatchObject([
      { at: 26, version: 0, who: "token:100%" },
    ]);
    expect(list({ page: 3 })).toEqual({ total: 26, at: [6, 5, 4, 3, 2, 1] });
    expect(list({ who: "token:100%" })).toEqual({ total: 1, at: [26] });
    expect(list({ action: "DELETE" })).toEqual({ total: 1, at: [26] });
    expect(list({ q: "100%" })).toEqual({ total: 1, at: [26] });
    expect(list({ q: "account_max_queue", since: 3, until: 5 })).toEqual({ total: 2, at: [4, 3] });
    expect(list({ q: "delete /ADMIN/k" })).toEqual({ total: 1, at: [26] });
    expect(list({ q: "nothing of the kind" })).toEqual({ total: 0, at: [] });
  });

  it("has the time and place where the session of an entry began", () => {
    const auditLog = new SqlAuditLog(memoryDatabase());
    const signIn = { action: "POST /admin/login", changes: [] };
    auditLog.recordEntry(note(1, { who: "token:a", address: "192.0.2.7", ...signIn }));
    auditLog.recordEntry(note(2, { who: "token:b", address: "", ...signIn }));
    auditLog.recordEntry(note(3, { who: "token:a", address: "192.0.2.8", action: "PUT /admin/settings" }));
    for (const [at, who] of [
      [4, "token:b"],
      [5, "token:older than the log"],
      [6, "admin:ada"],
      [7, "key"],
    ] as const) {
      auditLog.recordEntry(note(at, { who }));
    }
    const { items } = auditLog.listEntries({ ...ALL, since: 3 });
    expect(items.map(({ at, session }) => [at, session])).toEqual([
      [7, null],
      [6, null],
      [5, null],
      [4, { at: 2, address: "" }],
      [3, { at: 1, address: "192.0.2.7" }],
    ]);
  });

  it("can be searched for texts of any length", () => {
    const database = memoryDatabase();
    const statements: string[] = [];
    const auditLog = new SqlAuditLog({
      ...database,
      all: (statement, ...values) => {
        statements.push(statement);
        return database.all(statement, ...values);
      },
    });
    const long = `key_${"x".repeat(80)}%`;
    auditLog.recordEntry({ ...note(1), action: long });
    expect(auditLog.listEntries({ ...ALL, q: long, action: long }).total).toBe(1);
    expect(statements.filter((statement) => / like /i.test(statement))).toEqual([]);
  });

  it("keeps 10,000 entries", () => {
    const auditLog = new SqlAuditLog(memoryDatabase());
    for (let n = 1; n <= 10_003; n += 1) auditLog.recordEntry(note(n));
    const { items, total } = auditLog.listEntries({ ...ALL, page: 1_000 });
    expect([total, items.at(-1)?.at]).toEqual([10_000, 4]);
  });
});

describe("saved versions", () => {
  it("are the twenty newest that a large change has replaced", () => {
    const auditLog = new SqlAuditLog(memoryDatabase());
    for (let n = 1; n <= 30; n += 1)
      auditLog.recordEdit(snapshot(n, `k${n}`), n + 1, note(n, { keep: n !== 29 }));
    const versions = auditLog.listBackups().map(({ version }) => version);
    expect(versions).toHaveLength(20);
    expect([versions[0], versions[1], versions.at(-1)]).toEqual([30, 28, 10]);
    expect(auditLog.listBackups()[0]).toEqual({
      version: 30,
      at: 30,
      who: "key",
      action: "PUT /admin/settings",
      keys: 1,
      accounts: 0,
    });
    expect(auditLog.readBackup(28)).toEqual(snapshot(28, "k28").config);
    expect([auditLog.readBackup(9), auditLog.readBackup(29)]).toEqual([null, null]);
  });

  it("are deleted when keys must no longer be stored in plain text", () => {
    const auditLog = new SqlAuditLog(memoryDatabase());
    auditLog.recordEdit(snapshot(1), 2, note(1, { keep: true }));
    auditLog.recordEdit(snapshot(2), 3, note(2, { keep: true, forget: true }));
    expect(auditLog.listBackups()).toEqual([]);
    expect([auditLog.readBackup(1), auditLog.readBackup(2)]).toEqual([null, null]);
  });
});
