/**
 * `npm run agents -- --compare [--only <id>,…]`: runs each coding agent twice: directly against a stand-in of its vendor,
 * and through a gateway in front of the same stand-in. Prints in which parts the requests differ that arrive at the
 * stand-in. Credentials and the model's name are expected to differ, and are left out.
 */
import { playCli } from "./cli/play.mjs";
import { startGateways } from "./gateways.mjs";
import { Unavailable } from "./install.mjs";
import { tap } from "./tap.mjs";

/** The driver that speaks the protocol of each API style. */
const DRIVER_OF = {
  messages: "anthropic",
  "content-generation": "gemini",
  responses: "openai-responses",
  "chat completions": "openai",
};

/** Headers that belong to a connection, that runtimes add to each request, or that carry the credential. */
const CONNECTION_HEADERS = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "keep-alive"],
  ...["accept-language", "sec-fetch-mode"],
  ...["authorization", "x-api-key", "x-goog-api-key", "api-key"],
]);

/** Values that differ between two runs of the same agent: ids, times, ports. */
const VOLATILE = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "<uuid>"],
  [/\b(?:call|toolu|msg|resp|chatcmpl|ses|rs|fc|item|prt)_[\w-]{6,}/g, "<id>"],
  [/\b(?:call)?[0-9a-f]{16,64}\b/gi, "<hex>"],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, "<time>"],
  [/127\.0\.0\.1:\d+/g, "<host>"],
  [/\b\d{10,13}\b/g, "<time>"],
  [/(Chunk ID: |Wall time: |PGID: |shellId: )[\w.]+/g, "$1<any>"],
];

const settle = (text) => VOLATILE.reduce((settled, [pattern, mark]) => settled.replace(pattern, mark), text);

/** Whether a request asks for an answer of a model. */
const isGeneration = ({ method, path }) =>
  method === "POST" &&
  /\/(?:messages|responses|chat\/completions)(?:\?|$)|:(?:stream)?generateContent/i.test(path);

/** The leaves of a JSON value, by their path. */
function leavesOf(value, path = "", leaves = new Map()) {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    for (const [name, member] of Object.entries(value)) leavesOf(member, `${path}/${name}`, leaves);
  } else leaves.set(path, settle(JSON.stringify(value)));
  return leaves;
}

/** Everything of a request that the comparison looks at. */
function partsOf({ path, headers, body }) {
  const parts = new Map([["path", settle(path).replace(/\/models\/[^/:]+:/, "/models/<model>:")]]);
  for (const [name, value] of Object.entries(headers)) {
    if (!CONNECTION_HEADERS.has(name)) parts.set(`header ${name}`, settle(String(value)));
  }
  for (const [name, value] of leavesOf(JSON.parse(body))) {
    if (name !== "/model") parts.set(`body ${name}`, value);
  }
  // The order of the members matters for prompt caches.
  parts.set("order of members", Object.keys(JSON.parse(body)).join(","));
  return parts;
}

/** Both texts from shortly before their first difference. */
function excerpts(sent, received) {
  let same = 0;
  while (same < sent.length && sent[same] === received[same]) same += 1;
  const start = Math.max(0, same - 40);
  return [sent, received].map((text) => text.slice(start, start + 120)).join(" → ");
}

/**
 * Compares the requests of two runs, in their order.
 *
 * @param {readonly import("./tap.mjs").Exchange[]} direct
 * @param {readonly import("./tap.mjs").Exchange[]} through
 * @returns {string[]} one line per difference
 */
export function compareRequests(direct, through) {
  const [before, after] = [direct, through].map((exchanges) => exchanges.filter(isGeneration).map(partsOf));
  const differences = [];
  if (before.length !== after.length) differences.push(`${before.length} requests, not ${after.length}`);
  for (const [index, expected] of before.entries()) {
    const actual = after[index];
    if (actual === undefined) break;
    for (const name of new Set([...expected.keys(), ...actual.keys()])) {
      const [sent, received] = [expected.get(name), actual.get(name)];
      if (sent !== received)
        differences.push(`request ${index + 1}, ${name}: ${excerpts(String(sent), String(received))}`);
    }
  }
  return differences;
}

/**
 * Compares all given agents.
 *
 * @param {readonly import("./cli/play.mjs").Cli[]} clis
 * @returns {Promise<boolean>} whether no agent's requests differ
 */
export async function compareAgents(clis) {
  const taps = new Map();
  const { gateways, standIn, stop } = await startGateways(Object.values(DRIVER_OF), async (driver, url) => {
    taps.set(driver, await tap(url));
    return taps.get(driver).url;
  });
  const direct = await tap(standIn.url);
  const lines = ["| agent | style | requests | differences |", "| --- | --- | --- | --- |"];
  const details = [];
  const compareStyles = async (cli) => {
    const styles = new Set(cli.runs(standIn.url).map(({ style }) => style));
    for (const style of styles) {
      const driver = DRIVER_OF[style];
      const gateway = gateways.find((each) => each.driver === driver);
      if (gateway === undefined) continue;
      const only = { ...cli, runs: (base) => cli.runs(base).filter((run) => run.style === style) };
      const play = async (url, { take }) => {
        const heard = [];
        const record = () => {
          const taken = take();
          heard.push(...taken);
          return taken;
        };
        record();
        heard.length = 0;
        const results = await playCli(only, { driver: `compare-${driver}`, url, take: record });
        record();
        details.push(
          ...results.flatMap(({ error }) => (error === null ? [] : [`${cli.title}, ${style}: ${error}`])),
        );
        return heard;
      };
      const before = await play(direct.url, direct);
      const after = await play(gateway.url, taps.get(driver));
      const differences = compareRequests(before, after);
      const count = after.filter(isGeneration).length;
      lines.push(
        `| ${cli.title} | ${style} | ${count} | ${differences.length === 0 ? "none" : differences.length} |`,
      );
      details.push(...differences.map((difference) => `${cli.title}, ${style}: ${difference}`));
      console.error(lines.at(-1));
    }
  };
  try {
    for (const cli of clis) {
      await compareStyles(cli).catch((error) => {
        if (!(error instanceof Unavailable)) throw error;
        console.error(`${cli.title}: ${error.message}`);
      });
    }
  } finally {
    direct.close();
    for (const each of taps.values()) each.close();
    stop();
  }
  console.log([...lines, "", ...details].join("\n"));
  return details.length === 0;
}
