import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CachedBodyFolder } from "../../../../src/runtime/deno/cached-body-folder.ts";

class NotFound extends Error {}

/** What the runtime would do, with a disk that holds files of 100 bytes. */
const FILES = {
  errors: { NotFound },
  mkdir,
  readFile,
  remove: (path: string, options: { recursive?: boolean } = {}) => rm(path, options).catch(translate),
  writeFile: async (path: string, body: Uint8Array) => {
    await writeFile(path, body.subarray(0, 100)).catch(translate);
    if (body.byteLength > 100) throw new Error("No space left on device");
  },
};

function translate(error: NodeJS.ErrnoException): never {
  throw error.code === "ENOENT" ? new NotFound() : error;
}

describe("the folder of cached bodies", () => {
  let folder = "";

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "bodies-")), "answers");
  });
  afterEach(async () => {
    await rm(join(folder, ".."), { recursive: true });
  });

  it("keeps nothing of a body that does not fit on the disk", async () => {
    const bodies = await CachedBodyFolder.open(folder, FILES);
    const name = await bodies.put(new Uint8Array([1]));
    await expect(bodies.put(new Uint8Array(101))).rejects.toThrow("No space");
    expect(await readdir(folder)).toEqual([name]);
  });

  it("stores bodies again after the folder was deleted", async () => {
    const bodies = await CachedBodyFolder.open(folder, FILES);
    const lost = await bodies.put(new Uint8Array([1]));
    await rm(folder, { recursive: true });
    const [first, second] = await Promise.all([2, 3].map((byte) => bodies.put(new Uint8Array([byte]))));
    expect([...(await bodies.get(first ?? "")), ...(await bodies.get(second ?? ""))]).toEqual([2, 3]);
    await expect(bodies.get(lost)).rejects.toThrow();
  });
});
