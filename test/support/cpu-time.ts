/** Milliseconds of this thread's processor time that work takes: what else a machine does is not counted. */
export function cpuMs(work: () => unknown): number {
  const from = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(from);
  return (user + system) / 1000;
}
