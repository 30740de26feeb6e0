import { Database } from "./database.ts";

/** The folder that holds all state, open for this process alone. */
export interface DataFolder {
  readonly database: Database;
  close(): void;
}

/**
 * Opens the data folder, and makes it if there is none. Throws when another process has it open: two would hand out each
 * account's slots twice.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  await Deno.mkdir(path, { recursive: true });
  const lock = await Deno.open(`${path}/lock`, { create: true, write: true });
  if (!(await lock.tryLock(true))) {
    throw new Error(`another process, or another thread of this one, uses the data folder ${path}`);
  }
  const database = new Database(`${path}/polygate.db`);
  return {
    database,
    close: () => {
      database.close();
      lock.close();
    },
  };
}
