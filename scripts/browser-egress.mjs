// Starts a browser behind a filtering proxy in this process. The proxy resolves names itself and connects only to public
// addresses, so no page can reach anything else. Only for development and tests; in production the browser provider's
// network does this.
//
//   node browser-egress.mjs <browser> [arguments of the browser ...]
//
// Hosts in the variable PAGE_PRIVATE_HOSTS are allowed although they are private. Miniflare starts browsers without
// environment variables, so this script reads the variable from its parent process: from the parent's environment, or from
// the file that `allowPrivateHosts` wrote for the parent.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { startEgressFilter } from "../src/runtime/deno/egress-filter.ts";
import { privateHostsFile } from "./development.mjs";
import { onParentEnd } from "./parent-process.mjs";

const parent = process.ppid;

/**
 * Whether a private `host:port` pair is allowed. Reads the list each time, because tests extend it while the browser runs.
 */
function isListed(pair) {
  const environment = readIfExists(`/proc/${parent}/environ`).split("\0");
  const variable = environment.find((entry) => entry.startsWith("PAGE_PRIVATE_HOSTS="))?.slice(19) ?? "";
  const listed = `${variable},${readIfExists(privateHostsFile(parent))}`;
  return listed.split(",").some((entry) => entry.trim().toLowerCase() === pair);
}

function readIfExists(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const filter = await startEgressFilter(isListed);
const [browser, ...args] = process.argv.slice(2);
const proxy = [
  `--proxy-server=${filter.url}`,
  // By default, browsers bypass the proxy for loopback addresses.
  "--proxy-bypass-list=<-loopback>",
];
const child = spawn(browser, [...proxy, ...args], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
// A browser with a page that computes without end may not notice signals, nor that nobody uses it any more.
onParentEnd(() => child.kill("SIGKILL"));
child.on("error", (error) => {
  console.error(`The browser could not be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
