import { cpSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { KEY } from "../gateways.mjs";
import { installFromNpm, installFromPython } from "../install.mjs";
import { run } from "../process.mjs";

const TIMEOUT_MS = 400_000;

/**
 * A framework or SDK, used by a small program in this folder.
 *
 * @typedef {object} Framework
 * @property {string} id its row in `versions.mjs`
 * @property {string} title
 * @property {URL} file its program
 * @property {boolean} [python]
 */

/**
 * Runs a framework's program against a gateway.
 *
 * @param {Framework} framework
 * @param {{ driver: string, url: string }} gateway
 * @returns {Promise<import("../results.mjs").Result[]>}
 */
export async function playFramework(framework, gateway) {
  const { code, output } = await (framework.python ? runPython : runNode)(framework, gateway.url);
  const results = [...output.matchAll(/^@result (.*)$/gm)].map(([, json]) => JSON.parse(json));
  if (results.length === 0 || code !== 0) {
    const style = results.at(-1)?.style ?? "";
    results.push({ style, column: "text", way: "start", error: `exit code ${code}: ${output.slice(-600)}` });
  }
  return results.map((result) => ({ ...result, way: `${gateway.driver}, ${result.way}` }));
}

/** A module resolves packages from its own folder, so copy the program next to the installed packages. */
async function runNode({ id, file }, base) {
  const folder = await installFromNpm(id);
  const programs = join(folder, "programs");
  mkdirSync(programs, { recursive: true });
  for (const each of [
    file,
    new URL("scenario.mjs", import.meta.url),
    new URL("child.mjs", import.meta.url),
  ]) {
    cpSync(fileURLToPath(each), join(programs, basename(each.pathname)));
  }
  const args = ["child.mjs", `./${basename(file.pathname)}`, base, KEY];
  return run("node", args, { cwd: programs, env: environment(folder), timeout: TIMEOUT_MS });
}

async function runPython({ id, file }, base) {
  const python = await installFromPython(id);
  const cwd = fileURLToPath(new URL(".", file));
  const env = { ...environment(cwd), PYTHONDONTWRITEBYTECODE: "1" };
  return run(python, [fileURLToPath(file), base, KEY], { cwd, env, timeout: TIMEOUT_MS });
}

/** An environment without the keys and settings of this machine. */
const environment = (home) => ({ PATH: process.env.PATH, HOME: home, NODE_ENV: "production" });
