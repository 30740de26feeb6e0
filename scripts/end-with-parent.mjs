// Node loads this file first in wrangler's processes. It ends them when the process that started them has been killed:
// otherwise they would go on using the stored state.
const PARENT_MS = 500;
const parent = process.ppid;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
}, PARENT_MS).unref();
