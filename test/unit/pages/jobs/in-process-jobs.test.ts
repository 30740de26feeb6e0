import { expect, it } from "vitest";
import { toUtf8 } from "../../../../src/core/encoding/bytes.ts";
import { createInProcessJobs } from "../../../../src/pages/jobs/in-process-jobs.ts";
import { JobScheduler } from "../../../../src/pages/jobs/job-scheduler.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

it("resumes the jobs of an earlier process by itself, once the new one is ready", async () => {
  const sql = memoryDatabase();
  const kept = {
    sql,
    now: Date.now,
    maxBytes: 1_000,
    maxBytesPerClient: 1_000,
    notify: async () => undefined,
  };
  const before = new JobScheduler({ ...kept, prefix: "", runTask: () => new Promise(() => undefined) });
  const task = { url: "example.com", query: "url=example.com", fault: null };
  const id = before.create({ client: "a", operation: "thumbs", origin: "http://x", tasks: [task] })?.id ?? "";
  void before.run(Number.POSITIVE_INFINITY);
  let isReady = false;
  const jobs = createInProcessJobs({
    ...kept,
    runTask: async ({ query }) => {
      if (!isReady) throw new Error("too early");
      return { body: toUtf8(query), headers: {}, madeAt: Date.now() };
    },
  });
  isReady = true;
  await expect
    .poll(async () => (await jobs.get(id))?.tasks[0]?.status, { timeout: 20_000 })
    .toBe("completed");
});
