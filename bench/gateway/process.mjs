import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Unit of `/proc/stat`, in milliseconds. */
const TICK_MS = 10;

/** A clock that all processes of the machine share, in microseconds. */
export const clockUs = () => Number(process.hrtime.bigint() / 1000n);

/** Process ids of a process and all its descendants. */
function tree(pid) {
  const found = [pid];
  for (let at = 0; at < found.length; at += 1) {
    try {
      for (const task of readdirSync(`/proc/${found[at]}/task`)) {
        const children = readFileSync(`/proc/${found[at]}/task/${task}/children`, "utf8").trim();
        if (children !== "") found.push(...children.split(" ").map(Number));
      }
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found;
}

/** CPU time of each thread at its last reading, in nanoseconds. Ended threads keep their value. */
const used = new Map();

/** CPU time of a process and its descendants so far, in milliseconds with microsecond resolution. */
export function cpuMs(pid) {
  const pids = new Set(tree(pid));
  for (const each of pids) {
    const tasks = readdirSync(`/proc/${each}/task`);
    for (const task of tasks) {
      try {
        const ns = Number(readFileSync(`/proc/${each}/task/${task}/schedstat`, "utf8").split(" ", 1)[0]);
        used.set(`${each}/${task}`, { pid: each, ns });
      } catch {
        // The thread has ended meanwhile.
      }
    }
  }
  let total = 0;
  for (const { pid: owner, ns } of used.values()) if (pids.has(owner)) total += ns;
  return total / 1e6;
}

/** CPU time so far of all processes of the machine, plus the time stolen by other virtual machines, in milliseconds. */
export function machineMs() {
  const [, user, nice, system, , , irq, softIrq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softIrq + steal) * TICK_MS;
}

/** Resident memory (RSS) of a process and its descendants, in megabytes (10^6 bytes). */
export function rssMb(pid) {
  let kilobytes = 0;
  for (const each of tree(pid)) {
    kilobytes += Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1] ?? 0);
  }
  return (kilobytes * 1024) / 1e6;
}

/** Running descendants of this process. */
export const children = () => tree(process.pid).slice(1);

/** Starts a module of this folder in its own process. Its first message is `ready`. */
export async function start(name) {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), { serialization: "advanced" });
  const [ready] = await once(child, "message");
  return { child, ready };
}

/** Sends a job to a process of {@link start}. Resolves with its result. */
export function tell(child, job) {
  return new Promise((resolve, reject) => {
    child.once("message", ({ result, error }) =>
      error === undefined ? resolve(result) : reject(new Error(error)),
    );
    child.send(job);
  });
}
