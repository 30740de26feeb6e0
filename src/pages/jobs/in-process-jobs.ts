import type { PageJobs } from "../../core/ports/page-jobs.ts";
import { JobScheduler, type JobSchedulerOptions, RETRY_MS } from "./job-scheduler.ts";

/** Runs the jobs of all clients in one process, including unfinished ones from before a restart. */
export function createInProcessJobs(options: Omit<JobSchedulerOptions, "prefix">): PageJobs {
  const book = new JobScheduler({ ...options, prefix: "" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    clearTimeout(timer);
    book
      .run(Number.POSITIVE_INFINITY)
      .then(() => {
        clearTimeout(timer);
        const due = book.nextDueAt;
        if (due !== null) timer = setTimeout(run, Math.max(1, due - options.now()));
      })
      // The database failed, or it is closed because the process ends.
      .catch(() => {
        clearTimeout(timer);
        timer = setTimeout(run, RETRY_MS);
      });
  };
  // Start later: the code that runs tasks is not set up yet.
  if (book.nextDueAt !== null) timer = setTimeout(run, 0);
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
