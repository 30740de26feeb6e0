// Checks that the Dockerfile produces a working gateway (`npm run container-check`). With Docker or Podman it builds and
// starts the image. Otherwise it executes the Dockerfile's steps itself: each stage is a folder, steps for the image's
// operating system are reported and skipped, and the project's Deno replaces the image's.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/support/free-port.ts";
import { root } from "./development.mjs";

const START_MS = 60_000;
const STOP_MS = 30_000;

/** Commands for the image's operating system. */
const OF_THE_SYSTEM = /\b(?:apt-get|chown|useradd)\b/;

/** Parses a Dockerfile to `[instruction, rest]`. Joins continued lines and omits comments. */
function stepsOf(text) {
  return text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, instruction, rest] = /^(\w+)\s+(.*)$/.exec(line);
      return [instruction.toUpperCase(), rest.trim()];
    });
}

/** Files that .dockerignore excludes from the build. */
const ignored = new Set(
  readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
);

function run(command, cwd, env) {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}\nended with ${status}:\n${stdout}${stderr}`);
}

/** Executes the steps in `folder`. Returns folder, variables and command of the last stage. */
function takeSteps(folder) {
  const stages = new Map();
  let stage;
  for (const [instruction, rest] of stepsOf(readFileSync(join(root, "Dockerfile"), "utf8"))) {
    console.log(`${instruction} ${rest}`);
    const place = (path) => join(stage.folder, path.startsWith("/") ? path : join(stage.workdir, path));
    if (instruction === "FROM") {
      const name = / AS (\w+)$/i.exec(rest)?.[1] ?? "last";
      stage = { folder: join(folder, name), workdir: "/", env: {}, entrypoint: [] };
      stages.set(name, stage);
      mkdirSync(stage.folder, { recursive: true });
    } else if (instruction === "WORKDIR") {
      stage.workdir = rest;
      mkdirSync(place("."), { recursive: true });
    } else if (instruction === "COPY") {
      const from = /--from=(\w+)/.exec(rest)?.[1];
      const paths = rest.split(/\s+/).filter((part) => !part.startsWith("--"));
      const target = paths.pop();
      const base = from === undefined ? root : stages.get(from).folder;
      for (const path of paths)
        copy(join(base, path), place(target), from === undefined, target.endsWith("/"));
    } else if (instruction === "ENV") {
      for (const pair of rest.split(/\s+/)) {
        const at = pair.indexOf("=");
        stage.env[pair.slice(0, at)] = pair.slice(at + 1);
      }
    } else if (instruction === "RUN") {
      if (OF_THE_SYSTEM.test(rest)) console.log("  (passed over: it is about the image's system)");
      else run(rest, place("."), { ...process.env, ...stage.env });
    } else if (instruction === "ENTRYPOINT") {
      stage.entrypoint = JSON.parse(rest);
    }
  }
  return { ...stage, cwd: join(stage.folder, stage.workdir) };
}

/** Copies like COPY: the content of a folder into the target, or a file to a folder or a file name. */
function copy(source, target, ofContext, intoFolder) {
  if (!existsSync(source)) throw new Error(`COPY: there is no ${source}`);
  const goal = intoFolder && !source.endsWith("/.") ? join(target, source.split("/").at(-1)) : target;
  mkdirSync(dirname(goal), { recursive: true });
  cpSync(source, goal, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !ofContext || !ignored.has(relative(root, path).split("/")[0]),
  });
}

/** Checks that the gateway responds, serves its console, and rejects requests without a key. */
async function serves(url) {
  const end = Date.now() + START_MS;
  while (!(await fetch(`${url}/healthz`).catch(() => null))?.ok) {
    if (Date.now() > end) throw new Error("It does not answer.");
    await sleep(200);
  }
  const expected = { "/admin": 200, "/v1/models": 200, "/admin/queue/status": 401 };
  for (const [path, status] of Object.entries(expected)) {
    const answer = await fetch(url + path);
    if (answer.status !== status) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  }
}

const builder = ["docker", "podman"].find((name) => spawnSync(name, ["info"]).status === 0);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

if (builder !== undefined) {
  const image = "polygate-check";
  execFileSync(builder, ["build", "-t", image, root], { stdio: "inherit" });
  const args = ["run", "-d", "--rm", "-p", `127.0.0.1:${port}:8787`, "-e", "ADMIN_KEY=for-a-check", image];
  const id = execFileSync(builder, args, { encoding: "utf8" }).trim();
  try {
    await serves(url);
  } finally {
    execFileSync(builder, ["stop", id]);
  }
} else {
  console.log("Nothing here builds images: the steps are taken one by one.\n");
  const folder = mkdtempSync(join(tmpdir(), "polygate-container-"));
  try {
    const { cwd, env, entrypoint } = takeSteps(folder);
    const [command, ...args] = entrypoint;
    // Only Deno of the image is available here, and the data folder is a different one.
    const own = { ...env, PORT: String(port), DATA_DIR: join(folder, "data"), ADMIN_KEY: "for-a-check" };
    const PATH = `${dirname(process.execPath)}${delimiter}${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH}`;
    const child = spawn(command, args, {
      cwd,
      env: { PATH, HOME: folder, ...own },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    try {
      await serves(url);
      child.kill("SIGTERM");
      const code = await Promise.race([ended, sleep(STOP_MS, "no end")]);
      if (code !== 0) throw new Error(`Told to stop, it ended with ${code}.`);
    } finally {
      child.kill("SIGKILL");
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log("\nThe image serves, and stops when it is told to.");
