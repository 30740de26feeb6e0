import type { BodyStore } from "../../pages/process-cache.ts";

/** Bodies of kept answers, each a file. The folder is this process's own, and begins empty: what was kept before is made anew. */
export class AnswerBodies implements BodyStore {
  readonly #folder: string;
  #serial = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the folder, or empties it. */
  static async open(folder: string): Promise<AnswerBodies> {
    await Deno.remove(folder, { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
    await Deno.mkdir(folder);
    return new AnswerBodies(folder);
  }

  async put(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const name = String(this.#serial++);
    await Deno.writeFile(this.#path(name), body);
    return name;
  }

  get(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return Deno.readFile(this.#path(name));
  }

  remove(name: string): void {
    // The folder may be gone, too.
    Deno.remove(this.#path(name)).catch(() => undefined);
  }

  #path(name: string): string {
    return `${this.#folder}/${name}`;
  }
}
