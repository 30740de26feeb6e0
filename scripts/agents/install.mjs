import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./process.mjs";
import { NPM, PYTHON } from "./versions.mjs";

/** Folder of all installations; ignored by git. */
export const cache = join(root, ".cache", "agents");

const INSTALL_MS = 600_000;

/** A client that this machine cannot install, for reasons independent of the gateway. */
export class Unavailable extends Error {}

/** Installs a client's packages from npm, unless they are installed. Returns the folder with `node_modules`. */
export async function installFromNpm(id) {
  const folder = join(cache, id);
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: NPM[id] });
  const stamp = join(folder, "installed.json");
  if (readIfThere(stamp) === manifest) return folder;
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  rmSync(join(folder, "package-lock.json"), { force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest);
  await installed("npm", ["install", "--no-audit", "--no-fund"], folder);
  writeFileSync(stamp, manifest);
  return folder;
}

/** Installs a client's packages from PyPI. Returns the path of the interpreter. */
export async function installFromPython(id) {
  const folder = join(cache, id);
  const python = join(folder, "bin", "python");
  const stamp = join(folder, "installed.json");
  const wanted = JSON.stringify(PYTHON[id]);
  if (readIfThere(stamp) === wanted) return python;
  const here = await run("python3", ["-m", "pip", "--version"]);
  if (here.code !== 0) throw new Unavailable("skipped: there is no Python with pip on this machine");
  await installed("python3", ["-m", "venv", folder], root);
  const packages = Object.entries(PYTHON[id]).map(([name, version]) => `${name}==${version}`);
  await installed(python, ["-m", "pip", "install", "--quiet", "--retries", "1", ...packages], folder);
  writeFileSync(stamp, wanted);
  return python;
}

async function installed(command, args, cwd) {
  const { code, output } = await run(command, args, { cwd, timeout: INSTALL_MS });
  if (code === 0) return;
  const reasons = output.split("\n").filter((line) => /error/i.test(line) && !/A complete log/.test(line));
  throw new Unavailable(`cannot be installed here: ${reasons.at(-1) ?? output.slice(-200)}`);
}

const readIfThere = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
