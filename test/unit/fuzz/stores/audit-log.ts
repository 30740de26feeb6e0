import { configSchema } from "../../../../src/core/config/schema.ts";
import type { ChangeNote } from "../../../../src/core/config/snapshot.ts";
import type { AuditEntry } from "../../../../src/core/ports/audit-log.ts";
import { SqlAuditLog } from "../../../../src/operator/audit/sql-audit-log.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Model {
  readonly entries: Omit<AuditEntry, "id" | "session">[];
  /** Configurations by version, and whether they are from before a deletion. */
  readonly versions: Map<number, { readonly config: unknown; readonly isDeletion: boolean }>;
  version: number;
}

const MOST = { deletions: 10, others: 20 };
const EVERYTHING = { page: 1, pageSize: 1_000, who: "", action: "", q: "", since: 0, until: 0 };

const noteOf = (choose: Choices, action: string): ChangeNote => ({
  at: choose.time(),
  who: choose.text(),
  address: choose.text(),
  action,
  changes: choose.list(3, () => ({
    path: choose.text(),
    before: choose.text(),
    after: choose.once(2) ? null : choose.text(),
  })),
  more: choose.below(10),
});

const withoutId = ({ at, who, address, action, changes, more, version }: Model["entries"][number]) => ({
  at,
  who,
  address,
  action,
  changes,
  more,
  version,
});

function dropOld({ versions }: Model): void {
  for (const isDeletion of [true, false]) {
    const those = [...versions]
      .filter(([, kept]) => kept.isDeletion === isDeletion)
      .sort(([one], [other]) => other - one);
    for (const [version] of those.slice(isDeletion ? MOST.deletions : MOST.others)) versions.delete(version);
  }
}

/** Changes are recorded, and configurations of before them are kept. */
export const auditLog = storeTarget<SqlAuditLog, Model>({
  name: "audit",
  open: (sql) => new SqlAuditLog(sql),
  model: () => ({ entries: [], versions: new Map(), version: 1 }),
  operations: [
    (store, choose, { entries }) => {
      const note = noteOf(choose, choose.text());
      store.recordEntry(note);
      entries.push({ ...note, version: 0 });
    },
    (store, choose, model) => {
      const isDeletion = choose.once(2);
      const action = isDeletion ? "DELETE /admin/accounts" : "PUT /admin/settings";
      const note = { ...noteOf(choose, action), keep: choose.once(2), forget: choose.once(10) };
      const config = configSchema.parse({
        keys: [`key-${model.version}`],
        model_aliases: { alias: choose.text() || "a" },
      });
      const before = { version: model.version, config, envBacked: false, writable: true };
      store.recordEdit(before, model.version + 1, note);
      const { keep, forget, ...plain } = note;
      if (keep) model.versions.set(model.version, { config, isDeletion });
      if (keep) dropOld(model);
      if (forget) model.versions.clear();
      model.version += 1;
      model.entries.push({ ...plain, version: model.version });
    },
    (store, choose) =>
      void store.listEntries({
        ...EVERYTHING,
        who: choose.text(),
        action: choose.text(),
        q: choose.text(),
        since: choose.number(),
      }),
  ],
  check: (store, { entries, versions }) => {
    const { items, total } = store.listEntries(EVERYTHING);
    const told = items.map(withoutId);
    const ordered = entries.map(withoutId);
    same("entries", told, ordered.toReversed());
    same("total", total, entries.length);
    same(
      "versions",
      store.listBackups().map(({ version }) => version),
      [...versions.keys()].sort((one, other) => other - one),
    );
    for (const [version, { config }] of versions)
      same(`version ${version}`, store.readBackup(version), config);
  },
});
