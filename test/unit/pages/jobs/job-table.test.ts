import { describe, expect, it } from "vitest";
import type { NewJob } from "../../../../src/core/ports/page-jobs.ts";
import { JobTable } from "../../../../src/pages/jobs/job-table.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const NOBODY: ReadonlySet<string> = new Set();

/** A job of a client with some tasks, each with an address to upload to. */
function jobOf(client: string, tasks: number): NewJob {
  return {
    client,
    operation: "metadata",
    origin: "http://gateway.test",
    tasks: Array.from({ length: tasks }, (_, n) => ({
      url: `page${n}.test`,
      query: `url=page${n}.test`,
      fault: null,
      ...(n === 1 && { uploadUrl: "https://bucket.test/1" }),
    })),
  };
}

describe("the next task of all jobs", () => {
  it("is that of the oldest job whose client may start one, in the order of its addresses", () => {
    const table = new JobTable(memoryDatabase());
    table.insert("newer", jobOf("b", 1), 2_000, 9_000);
    table.insert("older", jobOf("a", 12), 1_000, 9_000);
    const start = (busy: ReadonlySet<string>) => {
      const task = table.findNextDue(3_000, busy);
      if (task !== null) table.markRunning(task);
      return task === null ? null : [task.job, task.n, task.uploadUrl];
    };
    expect(start(NOBODY)).toEqual(["older", 0, null]);
    expect(start(NOBODY)).toEqual(["older", 1, "https://bucket.test/1"]);
    expect(start(new Set(["a", "c"]))).toEqual(["newer", 0, null]);
    expect(start(new Set(["a"]))).toBeNull();
    for (let n = 2; n < 12; n++) expect(start(NOBODY)).toEqual(["older", n, null]);
    expect(start(NOBODY)).toBeNull();
  });

  it("is not one that waits for its next attempt", () => {
    const table = new JobTable(memoryDatabase());
    table.insert("one", jobOf("a", 1), 1_000, 9_000);
    const task = table.findNextDue(1_000, NOBODY);
    if (task === null) throw new Error("no task");
    table.markRunning(task);
    table.requeue(task, 5_000);
    expect(table.findNextDue(4_999, NOBODY)).toBeNull();
    expect(table.findNextDue(5_000, NOBODY)).toMatchObject({ job: "one", attempts: 1 });
  });
});
