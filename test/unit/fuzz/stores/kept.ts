import type { FileRecord } from "../../../../src/core/ports/files.ts";
import type { StoredResponse } from "../../../../src/core/ports/responses.ts";
import { createPieceId } from "../../../../src/core/ports/uploads.ts";
import { CallerObjectStore } from "../../../../src/runtime/deno/caller-object-store.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

const QUOTA = { characters: 3_000_000, objects: 8 };
const OWNERS = ["owner-1", "owner-2", "__proto__"] as const;

interface Model {
  /** What was put last under each owner and id. */
  readonly responses: Map<string, StoredResponse>;
  readonly files: Map<string, FileRecord>;
  /** The owner and the name of what was put last of all: that is there for sure. */
  readonly newest: { response: string | null; file: string | null };
}

/** Ids of responses come in addresses: they may be anything. */
const nameOf = (choose: Choices) => choose.of(choose.id(), choose.text().toWellFormed());
const expiryOf = (choose: Choices, now: number) =>
  choose.of(now + 1, now + 50_000, now + 86_400_000, now - 1, 1e300);
const isKept = (value: object) => JSON.stringify(value).length <= QUOTA.characters;
const split = (name: string): [owner: string, id: string] => {
  const at = name.indexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
};

/** Stored responses, records of files, and uploads between their requests. */
export const kept = storeTarget<CallerObjectStore, Model>({
  name: "stored responses, files and uploads",
  // What has expired stays gone when the clock is set back.
  forwardOnly: true,
  open: (sql, now) => new CallerObjectStore(sql, QUOTA, now, async () => true),
  model: () => ({ responses: new Map(), files: new Map(), newest: { response: null, file: null } }),
  operations: [
    async (store, choose, { responses, newest }, now) => {
      const owner = choose.of(...OWNERS);
      const messages = choose.list(3, () => ({
        role: "user" as const,
        parts: [{ type: "text" as const, text: choose.text() }],
      }));
      const response = {
        id: nameOf(choose),
        body: choose.text(),
        messages,
        input: choose.text(),
        expiresAt: expiryOf(choose, now()),
      };
      await store.responses(owner, 0).put(response);
      if (!isKept(response)) return;
      responses.set(`${owner} ${response.id}`, response);
      newest.response = `${owner} ${response.id}`;
    },
    async (store, choose, { responses, newest }) => {
      const owner = choose.of(...OWNERS);
      const id = nameOf(choose);
      await store.responses(owner, 0).remove(id);
      responses.delete(`${owner} ${id}`);
      newest.response = null;
      if ((await store.responses(owner, 0).get(id)) !== null) throw new Error("a removed response is there");
    },
    async (store, choose, { files, newest }, now) => {
      const owner = choose.of(...OWNERS);
      const file = {
        ...choose.of({}, { provider: choose.text(), upstreamId: choose.text(), uri: choose.text() }),
        ...{ id: nameOf(choose), account: choose.text(), filename: choose.text(), mediaType: choose.text() },
        ...{
          purpose: choose.text(),
          bytes: choose.amount(),
          createdAt: choose.amount(),
          expiresAt: expiryOf(choose, now()),
        },
      };
      await store.files(owner, 0).put(file);
      if (!isKept(file)) return;
      files.set(`${owner} ${file.id}`, file);
      newest.file = `${owner} ${file.id}`;
    },
    async (store, choose, _model, now) => {
      const uploads = store.uploads(choose.of(...OWNERS), 0);
      const id = choose.id();
      const expiresAt = now() + 60_000;
      const pieces = choose.below(4);
      for (let n = 0; n < pieces; n += 1)
        await uploads.putPiece({ id: createPieceId(id, n), data: choose.text(), expiresAt });
      const upload = {
        ...{
          id,
          credential: choose.text(),
          targetAccount: null,
          filename: choose.text(),
          mediaType: choose.text(),
        },
        ...{ size: choose.once(2) ? null : choose.amount(), received: choose.amount(), pieces, expiresAt },
      };
      await uploads.put(upload);
      same("an upload", await uploads.get(id), upload);
      if (choose.once(2)) return;
      await uploads.remove(id);
      for (let n = 0; n < pieces; n += 1) same("a piece", await uploads.getPiece(createPieceId(id, n)), null);
    },
  ],
  check: async (store, { responses, files, newest }, now) => {
    for (const [name, response] of responses) {
      const [owner, id] = split(name);
      const found = await store.responses(owner, 0).get(id);
      const mustBe = name === newest.response && response.expiresAt > now();
      // The oldest make room for others, and what has expired is gone.
      if (found !== null || mustBe) same("a response", found, response);
      if (found !== null && response.expiresAt <= now())
        throw new Error("a response is there that has expired");
    }
    for (const owner of OWNERS) {
      const listed = await store.files(owner, 0).list();
      if (listed.length > QUOTA.objects) throw new Error(`${listed.length} files are kept`);
      for (const file of listed) same("a file", file, files.get(`${owner} ${file.id}`));
    }
    const last = newest.file === null ? undefined : files.get(newest.file);
    if (newest.file === null || last === undefined || last.expiresAt <= now()) return;
    const [owner, id] = split(newest.file);
    same("the newest file", await store.files(owner, 0).get(id), last);
  },
});
