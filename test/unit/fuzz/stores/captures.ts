import type { Capture } from "../../../../src/core/ports/captures.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { batch, capture } from "../../records/archive/support.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Model {
  next: number;
  version: number;
  keep: number;
  captures: Capture[];
  /** What upstreams answered, by the name of the sample. */
  readonly samples: Map<string, string>;
}

const captureOf = (choose: Choices, model: Model, now: number): Capture => {
  model.next += 1;
  return capture(`capture-${model.next}`, {
    at: now,
    key: choose.text(),
    chain_key: choose.of("", "chain-1", "chain-2", choose.text()),
    label: choose.text(),
    error: choose.text(),
    request_headers: { [choose.text()]: choose.text() },
    request_body: choose.text(),
    response_body: choose.text(),
    response_bytes: choose.amount(),
  });
};

const bodies = (captures: readonly Capture[]) => captures.map(({ response_body }) => response_body).join("");

/** Captured exchanges, and samples made of them. */
export const captures = storeTarget<SqlArchive, Model>({
  name: "captures",
  forwardOnly: true,
  open: (sql, now) => new SqlArchive(sql, now),
  model: () => ({ next: 0, version: 1, keep: 5, captures: [], samples: new Map() }),
  operations: [
    (store, choose, model, now) => {
      const taken = choose.list(4, () => captureOf(choose, model, now()));
      const retention = { version: model.version, records: 0, captures: model.keep };
      store.write(batch({ retention, captures: taken }));
      model.captures = [...model.captures, ...taken].slice(-model.keep);
    },
    (store, choose, model) => {
      const keep = choose.of(1, 5, 20);
      store.applyRetention({ version: model.version + 1, records: 0, captures: keep });
      model.version += 1;
      model.keep = keep;
      model.captures = model.captures.slice(-keep);
    },
    (store, choose, model) => {
      if (!choose.once(4)) return;
      same("how many are cleared", store.clearCaptures(), model.captures.length);
      model.captures = [];
    },
    (store, choose, model) => {
      const id = choose.text().toWellFormed();
      const chosen = choose.once(2) ? model.captures.slice(0, 2) : [];
      const made = store.saveSample({ captureIds: chosen.map((one) => one.id) }, id, "sessions");
      same("whether a sample was made", made !== null, chosen.length > 0);
      if (made !== null) model.samples.set(id, bodies(chosen));
    },
    (store, choose, { samples }) => {
      const id = choose.text().toWellFormed();
      same("whether a sample is deleted", store.deleteSample(id), samples.has(id));
      samples.delete(id);
    },
    (store, choose) => void store.listChains(choose.text(), choose.below(5)),
  ],
  check: (store, model) => {
    same(
      "captures",
      store.listCaptures().map(({ id }) => id),
      model.captures.map(({ id }) => id).toReversed(),
    );
    for (const one of model.captures) same("a capture", store.readCapture(one.id), one);
    const ids = store.listSamples().map(({ sample_id }) => sample_id);
    same("samples", ids.sort(), [...model.samples.keys()].sort());
    for (const [id, upstream] of model.samples) same("a sample", store.readSample(id)?.upstream, upstream);
  },
});
