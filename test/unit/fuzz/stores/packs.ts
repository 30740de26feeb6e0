import { createPackKey, type RecordPack } from "../../../../src/core/ports/record-packs.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { TextTable } from "../../../../src/core/storage/text-table.ts";
import { HistoryTable } from "../../../../src/records/archive/history-table.ts";
import { PackedHistory } from "../../../../src/records/archive/packed-history.ts";
import { write } from "../../records/archive/support.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Store {
  readonly packed: PackedHistory;
  /** All of it is kept or nothing, as the object that holds the history does it. */
  atomic<T>(work: () => T): T;
}

interface Model {
  next: number;
  keep: number;
  /** Ids in the order in which they came. */
  ids: string[];
}

function open(sql: Sql, now: () => number): Store {
  const packed = new PackedHistory(sql, new HistoryTable(sql, new TextTable(sql, "piece"), now), now);
  return {
    packed,
    atomic: (work) => {
      let result: { readonly value: ReturnType<typeof work> } | undefined;
      try {
        sql.transaction(() => {
          result = { value: work() };
        });
      } catch (error) {
        packed.invalidateCache();
        throw error;
      }
      if (result === undefined) throw new Error("the database ran no transaction");
      return result.value;
    },
  };
}

function packOf(choose: Choices, model: Model, now: number): RecordPack {
  let at = 0;
  const records = choose.list(6, () => {
    model.next += 1;
    const { summary } = write(`record-${model.next}`, {
      created_at: now,
      updated_at: now,
      key: choose.text(),
      error: choose.text(),
    });
    const place = { at, bytes: choose.below(1_000) };
    at += place.bytes;
    return { summary, ...place };
  });
  return { key: createPackKey(now), records };
}

/** Records that come in packs. */
export const packs = storeTarget<Store, Model>({
  name: "history, packs",
  forwardOnly: true,
  open,
  model: () => ({ next: 0, keep: 12, ids: [] }),
  operations: [
    ({ packed, atomic }, choose, model, now) => {
      const pack = packOf(choose, model, now());
      // A message may come twice.
      const again = choose.below(2);
      for (let time = 0; time <= again; time += 1) {
        atomic(() => packed.write([], [pack], model.keep));
        const ids = pack.records.map(({ summary }) => summary.id);
        model.ids = [...model.ids, ...ids.filter((id) => !model.ids.includes(id))].slice(-model.keep);
        if (pack.records.length > model.keep || model.ids.length >= model.keep) return;
      }
    },
    ({ packed, atomic }, choose, model) => {
      const id = model.ids[choose.below(model.ids.length + 1)] ?? choose.text();
      same(
        "whether a record is deleted",
        atomic(() => packed.delete(id)),
        model.ids.includes(id),
      );
      model.ids = model.ids.filter((one) => one !== id);
    },
    ({ packed, atomic }, choose, model) => {
      if (!choose.once(5)) return;
      same(
        "how many are cleared",
        atomic(() => packed.clear(packed.keys)),
        model.ids.length,
      );
      model.ids = [];
    },
    ({ packed }, _choose, _model) => {
      for (const key of packed.listStrayTexts().keys()) packed.unmarkStrays(key);
      same("strays", packed.hasStrayTexts, false);
    },
    ({ packed }, choose) => {
      packed.list({
        offset: choose.below(5),
        count: choose.below(20),
        q: choose.text(),
        filter: { key: [choose.text()] },
      });
      packed.list({ offset: 0, count: 10, q: "", uncounted: true });
    },
  ],
  check: ({ packed }, { ids }) => {
    const { items, total } = packed.list({ offset: 0, count: 1_000, q: "" });
    same("records", items.map(({ id }) => id).sort(), [...ids].sort());
    same("how many there are", total, ids.length);
    for (const id of ids) if (packed.read(id) === null) throw new Error(`${id} cannot be read`);
  },
});
