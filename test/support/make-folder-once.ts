import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "../../scripts/development.mjs";

/** After this time a lock counts as left over, because another process may have got the id of a killed one. */
const LONGEST_BUILD_MS = 300_000;

/**
 * Makes a folder once among several processes: the first one makes it, the others wait. The lock is a file with the id of the
 * process that makes it. If that process was killed, another one continues at once.
 *
 * @param make fills a folder that has another name until it is complete
 */
export async function makeFolderOnce(folder: string, make: (half: string) => Promise<void>): Promise<void> {
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    if (!takeLock(lock)) {
      await sleep(50);
      if (isLeftOver(lock)) rmSync(lock, { force: true });
      continue;
    }
    const half = `${folder}.making.${process.pid}`;
    try {
      // The previous holder of the lock may have made it in the meantime.
      if (existsSync(folder)) return;
      await make(half);
      renameSync(half, folder);
    } catch (error) {
      // Two processes may have removed the same left-over lock: then both make the folder, and one is first.
      if (!existsSync(folder)) throw error;
    } finally {
      rmSync(half, { recursive: true, force: true });
      rmSync(lock, { force: true });
    }
  }
}

/** Creates the lock together with its content: a link appears at once, a written file would be empty for a moment. */
function takeLock(lock: string): boolean {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, lock);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function isLeftOver(lock: string): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  try {
    return !isRunning(Number(readFileSync(lock, "utf8"))) || Date.now() - stats.mtimeMs > LONGEST_BUILD_MS;
  } catch {
    // Its holder has just removed it.
    return false;
  }
}
