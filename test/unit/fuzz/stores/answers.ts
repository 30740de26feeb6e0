import type { Sql } from "../../../../src/core/storage/sql.ts";
import { ProcessAnswerCache } from "../../../../src/pages/cache/process-answer-cache.ts";
import { CachedBodyFolder } from "../../../../src/runtime/deno/cached-body-folder.ts";
import { RateLimits } from "../../../../src/runtime/deno/rate-limits.ts";
import { InjectedFailure } from "../../../support/failing-sql.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

class NotFound extends Error {}

/** A folder in memory whose writes may fail. */
class Folder {
  readonly errors = { NotFound };
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  isFull = false;

  async mkdir(): Promise<void> {
    if (this.isFull) throw new InjectedFailure("the disk is full");
  }

  async remove(path: string): Promise<void> {
    for (const name of this.files.keys())
      if (name === path || name.startsWith(`${path}/`)) this.files.delete(name);
  }

  async readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const body = this.files.get(path);
    if (body === undefined) throw new NotFound("there is no such file");
    return body;
  }

  async writeFile(path: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    this.files.set(path, this.isFull ? body.subarray(0, 1) : body);
    if (this.isFull) throw new InjectedFailure("the disk is full");
  }
}

interface Store {
  readonly cache: ProcessAnswerCache;
  readonly folder: Folder;
}

const MOST_BYTES = 20_000;
const keyOf = (choose: Choices) => `https://gateway.example/.kept/${choose.id()}`;

/** Answers of the page service, whose bodies are files. The model holds all bodies of each key: a new one may not be kept. */
export const answers = storeTarget<Store, Map<string, string[]>>({
  name: "kept answers",
  open: async (_sql, now) => {
    const folder = new Folder();
    return {
      cache: new ProcessAnswerCache(now, MOST_BYTES, await CachedBodyFolder.open("answers", folder)),
      folder,
    };
  },
  model: () => new Map(),
  operations: [
    async ({ cache, folder }, choose, model) => {
      const key = keyOf(choose);
      const body = Uint8Array.from({ length: choose.of(0, 10, 3_000, 30_000) }, () => choose.below(256));
      folder.isFull = choose.once(5);
      const headers = { "cache-control": `public, max-age=${choose.of(0, 60, 86_400, 1e30)}` };
      await cache.put(key, new Response(body, { headers })).finally(() => {
        folder.isFull = false;
      });
      model.set(key, [...(model.get(key) ?? []), body.join()]);
    },
    async ({ folder }, choose) => {
      // Another program has cleared the folder.
      if (choose.once(4)) folder.files.clear();
    },
    async ({ cache }, choose) => void (await cache.match(keyOf(choose))),
  ],
  // The cache begins empty with each process.
  reopened: (model) => model.clear(),
  check: async ({ cache, folder }, model) => {
    const bytes = [...folder.files.values()].reduce((sum, body) => sum + body.length, 0);
    if (bytes > MOST_BYTES) throw new Error(`${bytes} bytes are kept`);
    for (const key of [1, 2, 3, 4, 5, 6].map((n) => `https://gateway.example/.kept/id-${n}`)) {
      const found = await cache.match(key);
      if (!(found?.body instanceof Uint8Array)) continue;
      if (model.get(key)?.includes(found.body.join()) !== true)
        throw new Error("an answer is none that was put");
    }
  },
});

/** The limits of the page service with the database that they are in. */
interface Limits {
  readonly limits: RateLimits;
  readonly sql: Sql;
}

/** How many calls clients have left, which a restart does not change. */
export const rates = storeTarget<Limits, Set<string>>({
  name: "page limits",
  // A call that could not be counted is refused.
  faults: false,
  // A clock that is set back must not lock a client out: its calls are forgotten, by the process at once.
  forwardOnly: true,
  open: (sql, now) => ({ limits: new RateLimits(sql, now), sql }),
  model: () => new Set(),
  operations: [
    ({ limits }, choose, clients) => {
      const client = choose.text().toWellFormed();
      limits.take(client, choose.of(1, 5, 100), choose.below(8));
      clients.add(client);
    },
  ],
  check: ({ limits, sql }, clients, now) => {
    const again = new RateLimits(sql, now);
    for (const client of clients) same("a decision", again.take(client, 100, 0), limits.take(client, 100, 0));
  },
});
