import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** How often the processes are checked, milliseconds. */
const CHECK_MS = 250;
/** The pause after a check, as a multiple of its duration: a machine may have thousands of processes. */
const PAUSE_FACTOR = 50;
/** The kernel counts time in ticks of a hundredth of a second (proc(5)). */
const TICK_MS = 10;
/**
 * Priority (`nice`) by processor time spent on a page, milliseconds. Beyond what most pages need, a busy processor gives a
 * page a tenth of a normal share; if the page will probably never finish, almost nothing.
 */
const LEVELS = [
  { fromMs: 4_000, nice: 19 },
  { fromMs: 1_000, nice: 10 },
] as const;

/** What the kernel reports of a process. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Processor time of all its threads so far, milliseconds. */
  readonly computedMs: number;
}

/** A process, and its new priority. */
interface PriorityChange {
  readonly pid: number;
  readonly nice: number;
}

/**
 * On a busy processor, pages that compute for long yield to other pages and to the gateway (Linux only). Most pages finish
 * before that, and on an idle processor a page is as fast as before.
 *
 * @param browser the process that has started the browser, directly or indirectly
 * @param isBusy whether pages may be open
 * @returns a function that stops the checks
 */
export function deprioritizeLongPages(browser: number, isBusy: () => boolean): () => void {
  let known = new Map<number, number>();
  const checkProcesses = () => {
    const changes = findLongRunning(readProcesses(), browser);
    for (const { pid, nice } of changes)
      if (known.get(pid) !== nice && isRenderer(pid)) lowerPriority(pid, nice);
    known = new Map(changes.map(({ pid, nice }) => [pid, nice]));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const scheduleCheck = (ms: number) => {
    timer = setTimeout(() => {
      const startedAt = performance.now();
      if (isBusy()) checkProcesses();
      scheduleCheck(pauseAfterCheck(performance.now() - startedAt));
    }, ms);
  };
  scheduleCheck(CHECK_MS);
  return () => clearTimeout(timer);
}

/** How long to wait after a check; both in milliseconds. */
export function pauseAfterCheck(durationMs: number): number {
  return Math.max(CHECK_MS, PAUSE_FACTOR * durationMs);
}

/** The descendants of the browser process that have computed for long. */
export function findLongRunning(processes: readonly ProcessStat[], browser: number): PriorityChange[] {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isDescendant = (pid: number): boolean => {
    const seen = new Set<number>();
    for (
      let ancestor = parents.get(pid);
      ancestor !== undefined && !seen.has(ancestor);
      ancestor = parents.get(ancestor)
    ) {
      if (ancestor === browser) return true;
      seen.add(ancestor);
    }
    return false;
  };
  return processes.flatMap(({ pid, computedMs }) => {
    const nice = LEVELS.find(({ fromMs }) => computedMs >= fromMs)?.nice;
    return nice !== undefined && isDescendant(pid) ? { pid, nice } : [];
  });
}

/** Parses `/proc/<pid>/stat` (proc(5)); null if the text has another form. */
export function parseStat(text: string): ProcessStat | null {
  // The name is in parentheses, and may itself contain parentheses.
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  if (parent === undefined || user === undefined || system === undefined) return null;
  const stat = { pid, parent, computedMs: (user + system) * TICK_MS };
  return Object.values(stat).every(Number.isInteger) ? stat : null;
}

function readProcesses(): ProcessStat[] {
  return listFolder("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? (parseStat(readText(`/proc/${name}/stat`)) ?? []) : [],
  );
}

function isRenderer(pid: number): boolean {
  return readText(`/proc/${pid}/cmdline`).includes("--type=renderer");
}

/** Lowers the priority of each thread of a process: in Linux each has its own, and new threads inherit it. */
function lowerPriority(pid: number, nice: number): void {
  for (const thread of listFolder(`/proc/${pid}/task`)) {
    try {
      setPriority(Number(thread), nice);
    } catch {
      // The thread has ended meanwhile.
    }
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
