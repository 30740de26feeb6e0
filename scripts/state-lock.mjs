// Lets one `npm start` at a time use a folder of stored state: two would lock each other's databases.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "./development.mjs";

/** What the command of a process that holds a lock contains. */
const COMMAND = "start.mjs";

/**
 * Takes the lock of a folder of stored state until this process ends.
 *
 * @param {string} folder it is created if it does not exist
 * @param {string} address where this process will serve, for the message of others
 * @returns {{holder: {pid: number, address: string} | null, isTakenOver: boolean}} the process that has the folder, or null
 *   if this process has it now; and whether an earlier process ended without giving it back
 */
export function lockState(folder, address) {
  const file = join(folder, "start.json");
  const own = JSON.stringify({ pid: process.pid, address });
  mkdirSync(folder, { recursive: true });
  for (let isTakenOver = false; ; isTakenOver = true) {
    try {
      writeFileSync(file, own, { flag: "wx" });
      process.on("exit", () => readText(file) === own && rmSync(file, { force: true }));
      return { holder: null, isTakenOver };
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = readHolder(file);
    if (holder !== null && holds(holder.pid)) return { holder, isTakenOver: false };
    rmSync(file, { force: true });
  }
}

/** The process that a lock names; null if the file is gone or cut off. */
function readHolder(file) {
  try {
    const { pid, address } = JSON.parse(readText(file));
    return Number.isSafeInteger(pid) ? { pid, address: String(address) } : null;
  } catch {
    return null;
  }
}

/** Whether a process runs that can hold a lock. After a restart of the machine, another program may have its id. */
function holds(pid) {
  if (pid === process.pid || !isRunning(pid)) return false;
  try {
    return readCommand(pid).includes(COMMAND);
  } catch {
    return true;
  }
}

function readCommand(pid) {
  if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  return execFileSync("ps", ["-o", "command=", "-p", String(pid)], options);
}

function readText(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
