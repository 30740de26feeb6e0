/**
 * `npm run agents [-- --only <id>,… --driver sessions,openai,openai-responses,anthropic,gemini --requests]`: installs
 * coding agents, agent frameworks and SDKs into `.cache/agents`. Runs a conversation with each of them (text, one tool
 * call, two parallel tool calls) against a gateway with tool markup and a gateway with native calls, and prints a table.
 * Reports and skips clients that cannot be installed here. `--requests` saves the clients' requests in
 * `.cache/agents/requests`. `--compare` compares the requests of the coding agents with those of a direct connection
 * instead.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CLIS } from "./cli/index.mjs";
import { playCli } from "./cli/play.mjs";
import { FRAMEWORKS } from "./frameworks/index.mjs";
import { playFramework } from "./frameworks/play.mjs";
import { DRIVERS, startGateways } from "./gateways.mjs";
import { cache, Unavailable } from "./install.mjs";
import { stopRunning } from "./process.mjs";
import { Row, report } from "./results.mjs";
import { tap } from "./tap.mjs";
import { NPM, PYTHON } from "./versions.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    driver: { type: "string", multiple: true, default: ["sessions,openai"] },
    requests: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
  },
});
const list = (values) => values.flatMap((value) => value.split(","));
const only = list(options.only);
const drivers = list(options.driver);
const clients = [
  ...CLIS.map((cli) => ({ id: cli.id, title: cli.title, play: (gateway) => playCli(cli, gateway) })),
  ...FRAMEWORKS.map((each) => ({
    id: each.id,
    title: each.title,
    play: (gateway) => playFramework(each, gateway),
  })),
].filter(({ id }) => only.length === 0 || only.includes(id));
const unknown = [
  ...only.filter((id) => !clients.some((client) => client.id === id)),
  ...drivers.filter((driver) => !DRIVERS.includes(driver)),
];
if (unknown.length > 0) throw new Error(`no such client or driver: ${unknown.join(", ")}`);

if (options.compare) {
  mkdirSync(cache, { recursive: true });
  const { compareAgents } = await import("./compare.mjs");
  const isEqual = await compareAgents(CLIS.filter(({ id }) => only.length === 0 || only.includes(id)));
  process.exit(isEqual ? 0 : 1);
}

const rows = [];
const absent = [];
mkdirSync(join(cache, "requests"), { recursive: true });
const { gateways, stop } = await startGateways(drivers);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    stopRunning();
    stop();
    process.exit(1);
  });
}
const taps = await Promise.all(gateways.map(({ url }) => tap(url)));
try {
  for (const client of clients) {
    const version = Object.values({ ...NPM, ...PYTHON }[client.id])[0] ?? "";
    const results = [];
    try {
      for (const [n, { driver }] of gateways.entries()) {
        const heard = [];
        const take = () => {
          const taken = taps[n].take();
          heard.push(...taken);
          return taken;
        };
        results.push(...(await client.play({ driver, url: taps[n].url, take })));
        take();
        if (options.requests) {
          const lines = heard.map((exchange) => `${JSON.stringify(exchange)}\n`);
          writeFileSync(join(cache, "requests", `${client.id}-${driver}.jsonl`), lines.join(""));
        }
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      absent.push({ client: client.title, version, reason: error.message });
      continue;
    }
    for (const style of new Set(results.map((result) => result.style))) {
      const row = new Row({
        client: client.title,
        version,
        style,
        results: results.filter((result) => result.style === style),
      });
      rows.push(row);
      console.error(
        `${client.title}, ${style}: ${row.failures.length === 0 ? "ok" : row.failures.join("; ")}`,
      );
    }
  }
} finally {
  for (const each of taps) each.close();
  stop();
}
const failed = rows.filter(({ failures }) => failures.length > 0).length;
console.log(report(rows, absent));
console.log(`\n${rows.length - failed} passed, ${failed} failed, ${absent.length} skipped`);
process.exit(failed === 0 && rows.length > 0 ? 0 : 1);
