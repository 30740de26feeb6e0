import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** How often processes are looked at, milliseconds. */
const LOOK_MS = 250;
/** So many times as long as a look has taken nobody looks again: a machine may have thousands of processes. */
const PAUSES = 50;
/** The kernel tells times in ticks of a hundredth of a second (proc(5)). */
const TICK_MS = 10;
/**
 * From how much processor time on a page has which priority (`nice`), milliseconds: after more than most pages need a tenth of what others get where
 * there is not enough for all, and next to nothing when it is likely never to end.
 */
const LEVELS = [
  { fromMs: 4_000, nice: 19 },
  { fromMs: 1_000, nice: 10 },
] as const;

/** What the kernel tells of a process. */
export interface ProcessView {
  readonly pid: number;
  readonly parent: number;
  /** Processor time of all its threads so far, milliseconds. */
  readonly computedMs: number;
}

/** A process, and the priority that it is to have. */
interface Lowered {
  readonly pid: number;
  readonly nice: number;
}

/**
 * Has pages that compute for long wait for all others and for the gateway, where the processor is not enough for all (Linux; elsewhere nothing
 * happens). Most pages are shown before that, and one that is alone computes as fast as ever.
 *
 * @param browser the process that has started the browser, directly or not
 * @param isBusy whether there may be pages at all
 * @returns what ends it
 */
export function favourShortPages(browser: number, isBusy: () => boolean): () => void {
  let known = new Map<number, number>();
  const look = () => {
    const long = longProcesses(readProcesses(), browser);
    for (const { pid, nice } of long) if (known.get(pid) !== nice && isPage(pid)) lower(pid, nice);
    known = new Map(long.map(({ pid, nice }) => [pid, nice]));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lookAfter = (ms: number) => {
    timer = setTimeout(() => {
      const began = performance.now();
      if (isBusy()) look();
      lookAfter(pauseAfter(performance.now() - began));
    }, ms);
  };
  lookAfter(LOOK_MS);
  return () => clearTimeout(timer);
}

/** How long to wait after a look that has taken so long; milliseconds both. */
export function pauseAfter(took: number): number {
  return Math.max(LOOK_MS, PAUSES * took);
}

/** Those of the processes that a browser has started, directly or not, which have computed for long. */
export function longProcesses(processes: readonly ProcessView[], browser: number): Lowered[] {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isBelow = (pid: number): boolean => {
    const seen = new Set<number>();
    for (let at = parents.get(pid); at !== undefined && !seen.has(at); at = parents.get(at)) {
      if (at === browser) return true;
      seen.add(at);
    }
    return false;
  };
  return processes.flatMap(({ pid, computedMs }) => {
    const nice = LEVELS.find(({ fromMs }) => computedMs >= fromMs)?.nice;
    return nice !== undefined && isBelow(pid) ? { pid, nice } : [];
  });
}

/** What `/proc/<pid>/stat` says (proc(5)); null when it says nothing that is understood. */
export function parseStat(text: string): ProcessView | null {
  // The name stands in brackets, and may have any of them itself.
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
  if (parent === undefined || user === undefined || system === undefined) return null;
  const view = { pid, parent, computedMs: (user + system) * TICK_MS };
  return Object.values(view).every(Number.isInteger) ? view : null;
}

function readProcesses(): ProcessView[] {
  return list("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? (parseStat(read(`/proc/${name}/stat`)) ?? []) : [],
  );
}

function isPage(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).includes("--type=renderer");
}

/** Lowers each thread of a process: Linux gives them priorities of their own, which those that they start inherit. */
function lower(pid: number, nice: number): void {
  for (const thread of list(`/proc/${pid}/task`)) {
    try {
      setPriority(Number(thread), nice);
    } catch {
      // It has ended meanwhile.
    }
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
