import { claimDataVersion, NewerDataError } from "../../core/storage/data-version.ts";
import { Database } from "./database.ts";

/** The folder with all state, locked for this process. */
export interface DataFolder {
  readonly database: Database;
  close(): void;
}

/**
 * Opens the data folder, and creates it if necessary. If that fails, prints the reason and exits with code 1. It also fails
 * if another process uses the folder: two processes would hand out each account's slots twice.
 */
export async function openDataFolderOrExit(path: string): Promise<DataFolder> {
  const lock = await openLock(path).catch((error: unknown) =>
    exitWithReason(
      `The data folder ${path} cannot be used: ${error instanceof Error ? error.message : error}`,
    ),
  );
  if (!(await lock.tryLock(true))) {
    return exitWithReason(
      `Another process, or another thread of this one, uses the data folder ${path}: end that process, or set DATA_DIR to another folder`,
    );
  }
  const database = new Database(`${path}/polygate.db`);
  try {
    claimDataVersion(database);
  } catch (error) {
    if (error instanceof NewerDataError) return exitWithReason(`${path}: ${error.message}`);
    throw error;
  }
  return {
    database,
    close: () => {
      database.close();
      lock.close();
    },
  };
}

async function openLock(path: string): Promise<Deno.FsFile> {
  await Deno.mkdir(path, { recursive: true });
  return await Deno.open(`${path}/lock`, { create: true, write: true });
}

/** Prints why the program cannot start, and exits with code 1. */
export function exitWithReason(reason: string): never {
  console.error(reason);
  return Deno.exit(1);
}
