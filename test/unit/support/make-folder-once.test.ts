import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolderOnce } from "../../support/make-folder-once.ts";

describe("a folder that several processes need", () => {
  let parent: string;
  let folder: string;
  let made: number;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "polygate-folder-"));
    folder = join(parent, "build");
    made = 0;
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const make = async (half: string) => {
    made += 1;
    mkdirSync(half);
    await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(join(half, "file"), "complete");
  };

  it("is made once, complete, and leaves nothing beside it", async () => {
    await Promise.all([makeFolderOnce(folder, make), makeFolderOnce(folder, make)]);
    await makeFolderOnce(folder, make);
    expect(made).toBe(1);
    expect(readdirSync(parent)).toEqual(["build"]);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("is made at once although the process that made it was killed", async () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    writeFileSync(`${folder}.lock`, String(pid));
    await makeFolderOnce(folder, make);
    expect(readdirSync(parent)).toEqual(["build"]);
  });

  it("waits for a process that runs", async () => {
    writeFileSync(`${folder}.lock`, String(process.pid));
    const making = makeFolderOnce(folder, make);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(made).toBe(0);
    rmSync(`${folder}.lock`);
    await making;
    expect(made).toBe(1);
  });

  it("can be made after a failure", async () => {
    const failure = new Error("the build failed");
    await expect(makeFolderOnce(folder, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(readdirSync(parent)).toEqual([]);
    await makeFolderOnce(folder, make);
    expect(made).toBe(1);
  });
});
