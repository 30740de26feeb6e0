import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What `/proc/stat` counts in, milliseconds. */
const TICK_MS = 10;

/** A clock that all processes of a machine share, microseconds. */
export const clockUs = () => Number(process.hrtime.bigint() / 1000n);

/** A process and all that it has started, as process ids. */
function tree(pid) {
  const found = [pid];
  for (let at = 0; at < found.length; at += 1) {
    try {
      for (const task of readdirSync(`/proc/${found[at]}/task`)) {
        const children = readFileSync(`/proc/${found[at]}/task/${task}/children`, "utf8").trim();
        if (children !== "") found.push(...children.split(" ").map(Number));
      }
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** By thread: the CPU time that it had used when it was looked at last, nanoseconds. Those that have ended count on. */
const used = new Map();

/** The CPU time that a process and its children have used by now, milliseconds, to the microsecond. */
export function cpuMs(pid) {
  const pids = new Set(tree(pid));
  for (const each of pids) {
    const tasks = readdirSync(`/proc/${each}/task`);
    for (const task of tasks) {
      try {
        const ns = Number(readFileSync(`/proc/${each}/task/${task}/schedstat`, "utf8").split(" ", 1)[0]);
        used.set(`${each}/${task}`, { pid: each, ns });
      } catch {
        // It ended meanwhile.
      }
    }
  }
  let total = 0;
  for (const { pid: owner, ns } of used.values()) if (pids.has(owner)) total += ns;
  return total / 1e6;
}

/** The CPU time that all processes of the machine have used by now and that other machines took from it, milliseconds. */
export function machineMs() {
  const [, user, nice, system, , , irq, softIrq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softIrq + steal) * TICK_MS;
}

/** Memory that a process and its children hold (RSS), megabytes (10^6 bytes). */
export function rssMb(pid) {
  let kilobytes = 0;
  for (const each of tree(pid)) {
    kilobytes += Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1] ?? 0);
  }
  return (kilobytes * 1024) / 1e6;
}

/** The processes that this one has started and that run now. */
export const children = () => tree(process.pid).slice(1);

/** Starts a module of this folder in a process of its own; the first message that it sends is `ready`. */
export async function start(name) {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), { serialization: "advanced" });
  const [ready] = await once(child, "message");
  return { child, ready };
}

/** Has a process that {@link start} made do a job. Resolves with its result. */
export function tell(child, job) {
  return new Promise((resolve, reject) => {
    child.once("message", ({ result, error }) =>
      error === undefined ? resolve(result) : reject(new Error(error)),
    );
    child.send(job);
  });
}
