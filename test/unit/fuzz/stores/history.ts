import type { HistoryStatus, HistoryWrite } from "../../../../src/core/ports/archive.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { write } from "../../records/archive/support.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

/** How long after its deletion a record is still told of here: the tombstones of the program last an hour. */
const TOLD_MS = 3_000_000;

interface Model {
  next: number;
  version: number;
  keep: number;
  /** In the order in which they came first. */
  readonly records: Map<string, HistoryWrite>;
  readonly deleted: Map<string, number>;
  readonly metrics: Map<string, number>;
}

const STATUSES = ["streaming", "success", "error", "cancelled"] as const satisfies readonly HistoryStatus[];

/** What an isolate tells of a record: of a new one, of one that it has told of, or of a deleted one. */
function newsOf(choose: Choices, { next, records, deleted }: Model, now: number): HistoryWrite {
  const late = [...deleted].filter(([, at]) => now - at < TOLD_MS).map(([id]) => id);
  const [known, gone] = [[...records.keys()].at(-1 - choose.below(3)), late[choose.below(late.length + 1)]];
  const id =
    (choose.once(3) ? known : choose.once(3) ? gone : undefined) ?? `record-${next}-${choose.below(3)}`;
  const before = records.get(id)?.summary;
  const isNews = before !== undefined && choose.once(2);
  return write(
    id,
    {
      created_at: before?.created_at ?? now,
      updated_at: now,
      status: choose.of(...STATUSES),
      key: choose.text(),
      account: choose.text(),
      model: choose.text(),
      source: choose.text(),
      error: choose.text(),
      prompt_tokens: choose.amount(),
      elapsed_ms: choose.amount(),
      request_preview: choose.text(),
      response_preview: choose.text(),
      tried: choose.list(3, () => ({
        account: choose.text(),
        reason: choose.text(),
        message: choose.text(),
        at: now,
      })),
    },
    {
      request: isNews
        ? null
        : { messages: JSON.stringify([choose.text()]), prompt: choose.text(), options: choose.text() },
      reasoning: choose.text(),
      content: choose.text(),
    },
  );
}

function trim({ records, keep }: Model): void {
  const oldest = [...records.values()].sort(
    (one, other) => one.summary.created_at - other.summary.created_at,
  );
  for (const { summary } of oldest.slice(0, Math.max(0, records.size - keep))) records.delete(summary.id);
}

/** Newer news of a record replaces older; an outcome is not undone. */
function take({ records, deleted }: Model, news: HistoryWrite): void {
  const { summary, request } = news;
  const known = records.get(summary.id);
  if (known === undefined && deleted.has(summary.id)) return;
  const isOld = known !== undefined && known.summary.updated_at > summary.updated_at;
  if (
    known !== undefined &&
    summary.status === "streaming" &&
    (known.summary.status !== "streaming" || isOld)
  )
    return;
  records.set(summary.id, { ...news, request: request ?? known?.request ?? null });
}

/** The history and the counts, as one batch of an isolate after the other tells of them. */
export const history = storeTarget<SqlArchive, Model>({
  name: "history",
  forwardOnly: true,
  open: (sql, now) => new SqlArchive(sql, now),
  model: () => ({
    ...{ next: 0, version: 0, keep: 0, records: new Map(), deleted: new Map(), metrics: new Map() },
  }),
  operations: [
    (store, choose, model, now) => {
      model.next += 1;
      const version = model.version + choose.below(2);
      const keep = version > model.version ? choose.of(0, 3, 10, 2_000) : model.keep;
      const records = choose.list(5, () => newsOf(choose, model, now()));
      const series = choose.of("requests_total", `requests_total{key=${JSON.stringify(choose.text())}}`);
      const metrics = { [series]: choose.sum() };
      // Of one record there is one piece of news in a message.
      const news = [...new Map(records.map((one) => [one.summary.id, one])).values()];
      store.write({
        retention: { version, records: keep, captures: 0 },
        records: news,
        captures: [],
        metrics,
      });
      Object.assign(model, { version, keep });
      trim(model);
      if (keep > 0) for (const one of news) take(model, one);
      trim(model);
      model.metrics.set(series, (model.metrics.get(series) ?? 0) + (metrics[series] ?? 0));
    },
    (store, choose, model) => {
      const retention = { version: model.version + 1, records: choose.of(0, 3, 10, 2_000), captures: 0 };
      store.applyRetention(retention);
      Object.assign(model, { version: retention.version, keep: retention.records });
      trim(model);
    },
    (store, choose, model, now) => {
      const id = [...model.records.keys()].at(-1 - choose.below(4)) ?? choose.text();
      same(`whether ${id.slice(0, 100)} is deleted`, store.deleteHistory(id), model.records.has(id));
      if (model.records.delete(id)) model.deleted.set(id, now());
    },
    (store, choose, model, now) => {
      if (!choose.once(4)) return;
      same("how many are cleared", store.clearHistory(), model.records.size);
      for (const id of model.records.keys()) model.deleted.set(id, now());
      model.records.clear();
    },
    (store, choose) => {
      const filter = {
        ...{
          status: choose.once(2) ? [choose.of(...STATUSES)] : undefined,
          code: choose.once(3) ? ["200", "5xx"] : [],
        },
        ...{
          key: [choose.text()],
          model: choose.once(2) ? [choose.text()] : [],
          account: choose.list(3, () => choose.text()),
        },
        ...{ minTokens: choose.number(), maxMs: choose.number(), from: choose.number() },
      };
      store.listHistory({ offset: choose.below(5), count: choose.below(20), q: choose.text(), filter });
      store.listHistory({ offset: 0, count: 10, q: choose.text() });
    },
  ],
  check: (store, { records, metrics }) => {
    const { items, total } = store.listHistory({ offset: 0, count: 5_000, q: "" });
    same("how many records there are", total, records.size);
    same("which records there are", items.map(({ id }) => id).sort(), [...records.keys()].sort());
    for (const { summary, request, reasoning, content } of records.values()) {
      const record = store.readHistory(summary.id);
      const { messages, prompt, options } = request ?? { messages: "[]", prompt: "", options: "" };
      same(
        "a record's texts",
        [record?.messages, record?.prompt, record?.options, record?.reasoning, record?.content],
        [messages, prompt, options, reasoning, content],
      );
      const [{ key, source, tried, prompt_tokens }, told] = [summary, record];
      same(
        "a record",
        [told?.key, told?.source, told?.tried, told?.prompt_tokens],
        [key, source, tried, prompt_tokens],
      );
    }
    same("metrics", Object.entries(store.readMetrics()).sort(), [...metrics].sort());
  },
});
