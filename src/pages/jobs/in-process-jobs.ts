import type { PageJobs } from "../../core/ports/page-jobs.ts";
import { JobScheduler, type JobSchedulerOptions, RETRY_MS } from "./job-scheduler.ts";

/** Runs the jobs of all clients in one process, including unfinished ones from before a restart. */
export function createInProcessJobs(options: Omit<JobSchedulerOptions, "prefix">): PageJobs {
  const scheduler = new JobScheduler({ ...options, prefix: "" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    clearTimeout(timer);
    scheduler
      .run(Number.POSITIVE_INFINITY)
      .then(() => {
        clearTimeout(timer);
        const due = scheduler.nextDueAt;
        if (due !== null) timer = setTimeout(run, Math.max(1, due - options.now()));
      })
      // The database failed, or it is closed because the process ends.
      .catch(() => {
        clearTimeout(timer);
        timer = setTimeout(run, RETRY_MS);
      });
  };
  // Start later: the code that runs tasks is not set up yet.
  if (scheduler.nextDueAt !== null) timer = setTimeout(run, 0);
  return {
    create: async (job) => {
      const created = scheduler.create(job);
      run();
      return created;
    },
    get: async (id) => scheduler.get(id),
    result: async (id, task) => scheduler.result(id, task),
    cancel: async (id) => {
      const cancelled = scheduler.cancel(id);
      run();
      return cancelled;
    },
  };
}
