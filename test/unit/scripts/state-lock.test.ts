import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../../../scripts/development.mjs";
import { lockState } from "../../../scripts/state-lock.mjs";

let folder: string;
let state: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "polygate-lock-"));
  state = join(folder, "not", "yet", "there");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process whose command is that of `npm start`, and which holds the lock until it ends. */
async function holdElsewhere() {
  const script = join(folder, "start.mjs");
  const lock = pathToFileURL(join(root, "scripts", "state-lock.mjs"));
  writeFileSync(
    script,
    `import { lockState } from ${JSON.stringify(lock.href)};
     process.on("SIGTERM", () => process.exit());
     console.log(JSON.stringify(lockState(${JSON.stringify(state)}, "http://first")));
     setInterval(() => {}, 1000);`,
  );
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

const lockFile = () => join(state, "start.json");

describe("a folder of stored state", () => {
  it("belongs to one running process, which others can name, and is free when that ends", async () => {
    const child = await holdElsewhere();
    expect(lockState(state, "http://second").holder).toEqual({ pid: child.pid, address: "http://first" });
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(existsSync(lockFile())).toBe(false);
    expect(lockState(state, "http://second")).toEqual({ holder: null, isTakenOver: false });
    expect(JSON.parse(readFileSync(lockFile(), "utf8"))).toMatchObject({ pid: process.pid });
  });

  it("is free when its process was killed", async () => {
    const child = await holdElsewhere();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(lockState(state, "http://second")).toEqual({ holder: null, isTakenOver: true });
  });

  it.each([
    [
      "names a process that is another program now",
      JSON.stringify({ pid: process.ppid, address: "http://x" }),
    ],
    ["was cut off while it was written", '{"pid":'],
    ["is empty", ""],
  ])("is free if its lock %s", (_, text) => {
    lockState(state, "http://first");
    writeFileSync(lockFile(), text);
    expect(lockState(state, "http://second")).toEqual({ holder: null, isTakenOver: true });
  });
});
