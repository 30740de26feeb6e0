import type { BodyStore } from "../../pages/cache/process-answer-cache.ts";

/** The file operations of the runtime. */
export interface Files {
  readonly errors: { readonly NotFound: new (message?: string) => Error };
  mkdir(path: string, options?: { recursive: boolean }): Promise<unknown>;
  remove(path: string, options?: { recursive: boolean }): Promise<void>;
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  writeFile(path: string, body: Uint8Array<ArrayBuffer>): Promise<void>;
}

/**
 * Stores the bodies of cached answers, one file each. The folder belongs to this process and starts empty: the cache does
 * not survive it.
 */
export class CachedBodyFolder implements BodyStore {
  readonly #folder: string;
  readonly #files: Files;
  #serial = 0;

  private constructor(folder: string, files: Files) {
    this.#folder = folder;
    this.#files = files;
  }

  /** Creates the folder, or empties it. */
  static async open(folder: string, files: Files): Promise<CachedBodyFolder> {
    await files.remove(folder, { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof files.errors.NotFound)) throw error;
    });
    await files.mkdir(folder);
    return new CachedBodyFolder(folder, files);
  }

  async put(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const name = String(this.#serial++);
    const path = this.#path(name);
    const write = () => this.#files.writeFile(path, body);
    try {
      await write().catch(async (error: unknown) => {
        if (!(error instanceof this.#files.errors.NotFound)) throw error;
        // Another program has removed the folder.
        await this.#files.mkdir(this.#folder, { recursive: true });
        await write();
      });
    } catch (error) {
      // All of the gateway's data shares the disk: a partial body must not stay on a full one.
      await this.#files.remove(path).catch(() => undefined);
      throw error;
    }
    return name;
  }

  get(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#files.readFile(this.#path(name));
  }

  remove(name: string): void {
    // The folder may be missing, too.
    this.#files.remove(this.#path(name)).catch(() => undefined);
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }
}
