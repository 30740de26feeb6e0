import { KeptObjects, type Quota } from "../../storage/kept.ts";
import type { Sql } from "../../storage/sql.ts";
import { type CallerObjects, forgetUpload } from "../caller-objects.ts";
import type { FileStore } from "../files.ts";
import type { ResponseStore } from "../responses.ts";
import type { UploadStore } from "../uploads.ts";

/** How often what has expired is dropped, milliseconds. */
const SWEEP_MS = 60_000;

/** What is kept for callers until it expires: stored responses, what is remembered of uploaded files, and what has come of uploads. */
export class KeptForCallers {
  readonly #kept: KeptObjects<CallerObjects>;
  readonly #now: () => number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `now` gives milliseconds since the epoch. */
  constructor(sql: Sql, quota: Quota, now: () => number) {
    this.#kept = new KeptObjects(sql, quota);
    this.#now = now;
  }

  /** The stored responses of one caller. */
  responses(owner: string): ResponseStore {
    return {
      get: async (id) => this.#kept.get(owner, "response", id, this.#now()),
      put: async (response) => {
        this.#sweep();
        this.#kept.put(owner, "response", response);
      },
      remove: async (id) => this.#kept.remove(owner, "response", id, this.#now()),
    };
  }

  /** The uploaded files of one caller. */
  files(owner: string): FileStore {
    return {
      get: async (id) => this.#kept.get(owner, "file", id, this.#now()),
      list: async () => this.#kept.list(owner, "file", this.#now()),
      put: async (file) => {
        this.#sweep();
        this.#kept.put(owner, "file", file);
      },
    };
  }

  /** The unfinished uploads of one caller. */
  uploads(owner: string): UploadStore {
    return {
      get: async (id) => this.#kept.get(owner, "upload", id, this.#now()),
      put: async (upload) => {
        this.#sweep();
        this.#kept.put(owner, "upload", upload);
      },
      getPiece: async (id) => this.#kept.get(owner, "piece", id, this.#now()),
      putPiece: async (piece) => {
        this.#sweep();
        this.#kept.put(owner, "piece", piece);
      },
      remove: async (id) => forgetUpload(this.#kept, owner, id, this.#now()),
    };
  }

  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    this.#kept.expire(now);
  }
}
