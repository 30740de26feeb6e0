import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cache, installFromNpm } from "../install.mjs";
import { run, stopGroup } from "../process.mjs";

/**
 * A command-line agent: how to connect it to the gateway and to ask it one question.
 *
 * @typedef {object} Cli
 * @property {string} id its row in `versions.mjs`
 * @property {string} title
 * @property {string} bin
 * @property {(base: string) => Record<string, string>} [files] configuration files, by path below the home folder
 * @property {(base: string) => string[][]} [setup] commands to run once, before the runs
 * @property {(base: string) => CliRun[]} runs
 * @property {(home: string) => number | undefined} [daemon] process id of a daemon that the agent leaves running; it is
 *   ended after the runs
 *
 * @typedef {object} CliRun
 * @property {string} style the API style of this run
 * @property {string} [way] distinguishes runs with the same style
 * @property {string} tool the name of its shell tool
 * @property {(command: string) => unknown} input the tool's input that runs a shell command
 * @property {string[]} args `{prompt}` and `{home}` are replaced
 * @property {Record<string, string>} [env]
 * @property {boolean} [stdin] sends the prompt to standard input instead of the arguments
 */

/**
 * Executes all runs of an agent against one gateway, with one and with two parallel tool calls.
 *
 * @param {Cli} cli
 * @param {{ driver: string, url: string, take: () => import("../tap.mjs").Exchange[] }} gateway
 * @returns {Promise<import("../results.mjs").Result[]>}
 */
export async function playCli(cli, gateway) {
  const folder = await installFromNpm(cli.id);
  const bin = join(folder, "node_modules", ".bin", cli.bin);
  const home = join(cache, cli.id, `home-${gateway.driver}`);
  mkdirSync(home, { recursive: true });
  for (const [path, text] of Object.entries(cli.files?.(gateway.url) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  for (const args of cli.setup?.(gateway.url) ?? []) {
    await run(bin, args, { env: environment(home), cwd: home });
  }
  const results = [];
  for (const cliRun of cli.runs(gateway.url)) {
    for (const [column, calls] of Object.entries({ "one call": 1, "two calls": 2 })) {
      const way = [gateway.driver, cliRun.way].filter(Boolean).join(", ");
      const error = await converse(bin, home, cliRun, calls, gateway);
      results.push({ style: cliRun.style, column, way, error });
    }
  }
  const daemon = cli.daemon?.(home);
  if (daemon !== undefined) stopGroup({ pid: daemon }, "SIGTERM");
  return results;
}

const environment = (home, more) => ({ PATH: process.env.PATH, HOME: home, TERM: "xterm", ...more });

/**
 * Runs one conversation: `calls` shell commands in parallel, then a text that quotes their output. The prompt does not
 * contain the output, so the gateway can get it only from the tool results.
 */
async function converse(bin, home, cliRun, calls, gateway) {
  const work = join(home, "work");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const numbers = Array.from({ length: calls }, (_, n) => n);
  const directives = numbers.map((n) => {
    // Some agents lose the output of commands that end at once. Some do not allow command substitution.
    const input = cliRun.input(`seq -f made-%g-${n} 42 42 | tee call-${n}.txt && sleep 1`);
    return `[[call:${cliRun.tool}:${JSON.stringify(input)}]]`;
  });
  const prompt = directives.join("");
  const args = cliRun.args.map((argument) => argument.replace("{prompt}", prompt).replace("{home}", home));
  gateway.take();
  const { code, output } = await run(bin, args, {
    env: environment(home, cliRun.env),
    cwd: work,
    input: cliRun.stdin ? prompt : "",
  });
  const exchanges = gateway.take();
  const said = `${output.slice(-300)} [${exchanges.map(({ path, status }) => `${path} ${status}`).join(", ")}]`;
  for (const n of numbers) {
    if (!existsSync(join(work, `call-${n}.txt`))) return `call ${n + 1} was not made: ${said}`;
  }
  const results = numbers.map((n) => `made-42-${n}`);
  const hasAll = ({ body, status }) => status < 300 && results.every((result) => body.includes(result));
  if (!exchanges.some(hasAll)) return `the results were not sent back: ${said}`;
  return code === 0 ? null : `exit code ${code}: ${said}`;
}
