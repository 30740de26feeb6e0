import type { JobState, TaskError } from "../../../../src/core/ports/page-jobs.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { JobTable, type QueuedTask } from "../../../../src/pages/jobs/job-table.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Store {
  readonly table: JobTable;
  readonly sql: Sql;
}

interface Model {
  next: number;
  /** What is known of each job that is kept; null: what the table says next. */
  readonly jobs: Map<string, JobState | null>;
  /** Bodies by job and place. */
  readonly results: Map<string, Uint8Array<ArrayBuffer>>;
}

const ATTEMPTS = 3;
const FAULT: TaskError = { status: 503, code: "job_interrupted", message: "It was interrupted." };
const faultOf = (choose: Choices): TaskError => ({
  status: 422,
  code: "page_too_large",
  message: choose.text(),
});

function begun({ table }: Store, model: Model, choose: Choices, now: number): QueuedTask | null {
  const task = table.findNextDue(now, new Set(choose.list(2, () => choose.of("client-1", "client-2"))));
  if (task === null) return null;
  table.markRunning(task);
  model.jobs.set(task.job, null);
  return task;
}

/** What the table says of a job from now on; where that cannot be read, what it says when it is asked next. */
function learn(table: JobTable, { jobs: known }: Model, id: string): void {
  known.set(id, null);
  known.set(id, table.get(id));
}

/** Jobs of the page service, and what came of their tasks. */
export const jobs = storeTarget<Store, Model>({
  name: "page jobs",
  open: (sql) => {
    const table = new JobTable(sql);
    table.requeueInterrupted(ATTEMPTS, FAULT);
    return { table, sql };
  },
  model: () => ({ next: 0, jobs: new Map(), results: new Map() }),
  operations: [
    ({ table }, choose, model, now) => {
      model.next += 1;
      const id = `job_${model.next}`;
      const tasks = choose.list(5, () => ({
        url: choose.text(),
        query: choose.text(),
        fault: choose.once(4) ? faultOf(choose) : null,
      }));
      const client = choose.of("client-1", "client-2", choose.text());
      table.insert(
        id,
        { client, operation: "metadata", origin: choose.text(), tasks },
        now(),
        now() + 3_600_000,
      );
      learn(table, model, id);
    },
    (store, choose, model, now) => {
      const task = begun(store, model, choose, now());
      if (task === null) return;
      const body = Uint8Array.from({ length: choose.below(200) }, () => choose.below(256));
      store.table.complete(task, {
        body,
        headers: { "x-page-title": choose.text() },
        madeAt: choose.time(),
      });
      learn(store.table, model, task.job);
      model.results.set(`${task.job} ${task.n}`, body);
    },
    (store, choose, model, now) => {
      const task = begun(store, model, choose, now());
      if (task === null) return;
      if (choose.once(2)) store.table.fail(task, faultOf(choose));
      else store.table.requeue(task, now() + choose.below(10_000));
      learn(store.table, model, task.job);
    },
    ({ table }, choose, model) => {
      const id = [...model.jobs.keys()][choose.below(model.jobs.size + 1)] ?? choose.text();
      table.endUnfinished(id, choose.of("failed", "cancelled"), choose.once(2) ? null : faultOf(choose));
      if (model.jobs.has(id)) learn(table, model, id);
    },
    ({ table }, _choose, model, now) => {
      table.markFinished(now(), now() + 3_600_000);
      for (const id of model.jobs.keys()) model.jobs.set(id, null);
    },
    ({ table }, choose, model, now) => {
      const expired = table.listExpired(now());
      const id = choose.once(2) ? expired[0]?.id : [...model.jobs.keys()][choose.below(model.jobs.size + 1)];
      if (id === undefined) return;
      table.delete(id);
      model.jobs.delete(id);
      for (const name of model.results.keys()) if (name.startsWith(`${id} `)) model.results.delete(name);
    },
    ({ table }, choose) =>
      void [
        table.findLargestClient(),
        table.findOldestFinished(choose.text()),
        table.nextDueAt(),
        table.nextExpiry(),
      ],
  ],
  reopened: ({ jobs: known }) => {
    // Tasks that were being done wait again, or have failed.
    for (const [id, job] of known) {
      if (job?.tasks.some(({ status }) => status === "running")) known.set(id, null);
    }
  },
  check: ({ table, sql }, model) => {
    for (const [id, job] of model.jobs) {
      const told = table.get(id);
      if (job === null && told !== null) model.jobs.set(id, told);
      else same("a job", told, job);
    }
    for (const [name, body] of model.results) {
      const [id = "", n] = name.split(" ");
      same("a result", [...(table.result(id, Number(n))?.body ?? [])], [...body]);
    }
    same("the bytes of all jobs", table.bytes, new JobTable(sql).bytes);
  },
});
