import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DATABASE_LIMIT_PATH, NO_PAGE_LIMIT } from "../support/database-limit.ts";

/** A file system of a few megabytes, if this process may mount one (Linux). */
export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), "polygate-disk-"));
  readonly isMounted: boolean;

  constructor(megabytes: number) {
    const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.path];
    this.isMounted = spawnSync("mount", options, { stdio: "ignore" }).status === 0;
  }

  /** Fills all remaining space. */
  fill(): void {
    const file = openSync(join(this.path, "filler"), "a");
    try {
      for (let size = 65_536; size >= 1; size = size >> 1) {
        const bytes = Buffer.alloc(size);
        while (takes(file, bytes));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Frees the space again. */
  empty(): void {
    rmSync(join(this.path, "filler"), { force: true });
  }

  close(): void {
    if (this.isMounted) spawnSync("umount", ["-l", this.path], { stdio: "ignore" });
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether a file accepts all the bytes. */
function takes(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length;
  } catch {
    return false;
  }
}

/** A fault that prevents the program from writing. It starts immediately and ends when the returned function is called. */
export type DiskFault = (url: string) => Promise<() => Promise<void>>;

/** The file system is full. */
export function fullDisk(disk: SmallDisk): DiskFault {
  return async () => {
    disk.fill();
    return async () => disk.empty();
  };
}

/** The database may not grow. */
export const fullDatabase: DiskFault = async (url) => {
  const limit = async (pages: number) => {
    await (await fetch(`${url}${DATABASE_LIMIT_PATH}?pages=${pages}`)).text();
  };
  await limit(1);
  return () => limit(NO_PAGE_LIMIT);
};

/** Another program holds a write lock on the database. */
export function lockedDatabase(folder: string): DiskFault {
  return async () => {
    const database = new DatabaseSync(join(folder, "polygate.db"), { timeout: 5_000 });
    database.exec("begin immediate");
    return async () => {
      database.exec("rollback");
      database.close();
    };
  };
}
