import type { PageJobs } from "../../platform/page-jobs.ts";
import { JobBook, type JobBookOptions, RETRY_MS } from "./job-book.ts";

/** Jobs of all clients in one process, which goes on with those of its last life. */
export function jobsInProcess(options: Omit<JobBookOptions, "prefix">): PageJobs {
  const book = new JobBook({ ...options, prefix: "" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    clearTimeout(timer);
    book
      .run(Number.POSITIVE_INFINITY)
      .then(() => {
        clearTimeout(timer);
        const due = book.nextDue;
        if (due !== null) timer = setTimeout(run, Math.max(1, due - options.now()));
      })
      // The database fails, or it has been closed, and the process ends.
      .catch(() => {
        clearTimeout(timer);
        timer = setTimeout(run, RETRY_MS);
      });
  };
  // Not at once: what works is still being made.
  if (book.nextDue !== null) timer = setTimeout(run, 0);
  return {
    create: async (job) => {
      const created = book.create(job);
      run();
      return created;
    },
    get: async (id) => book.get(id),
    result: async (id, task) => book.result(id, task),
    cancel: async (id) => book.cancel(id),
  };
}
