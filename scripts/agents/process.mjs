import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The project's root folder. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Child processes that are running. */
const running = new Set();

/**
 * Runs a program to its end, or for at most `timeout` milliseconds. Resolves with its exit code (-1: none) and its output.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, input?: string, timeout?: number }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { env = process.env, cwd = root, input = "", timeout = 180_000 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, cwd, detached: true });
    running.add(child);
    let output = "";
    let late = "";
    const timer = setTimeout(() => {
      late = `\nstopped after ${timeout / 1000} s`;
      stopGroup(child);
    }, timeout);
    const hear = (data) => {
      output += data;
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: -1, output: String(error) });
    });
    // Do not wait for grandchildren, which may keep the output open.
    child.on("exit", (code) => {
      clearTimeout(timer);
      setTimeout(() => {
        stopGroup(child);
        running.delete(child);
        resolve({ code: code ?? -1, output: output + late });
      }, 100);
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** Ends all running child processes. */
export function stopRunning() {
  for (const child of running) stopGroup(child);
}

/** Ends the process group of a child that was started with `detached`, including all its children. */
export function stopGroup(child, signal = "SIGKILL") {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
