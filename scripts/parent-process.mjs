const CHECK_MS = 500;

/** Calls `end` once the process that started this one has ended. It does not keep this process running. */
export function onParentEnd(end) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, CHECK_MS).unref();
}
