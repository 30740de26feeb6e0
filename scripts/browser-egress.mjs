// Starts a browser whose every connection goes through a filter in this process, which looks names up itself and connects to public addresses only.
// What the filter refuses no page can reach, whatever it makes the browser do. Development and tests use it; in production the
// network of the browser's provider stands in its place.
//
//   node browser-egress.mjs <browser> [arguments of the browser ...]
//
// What the variable PAGE_PRIVATE_HOSTS lists may be reached all the same. Miniflare gives a browser no environment, so it is taken from the
// process that started this one: from its environment, or from the file that `allowPrivateHosts` wrote for it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { startEgress } from "../src/platform/deno/egress.ts";
import { privateHostsFile } from "./development.mjs";

const parent = process.ppid;

/** Whether a `host:port` pair is among those that may be reached although private. Tests add to them while the browser runs. */
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

const filter = await startEgress(isListed);
const [browser, ...args] = process.argv.slice(2);
const proxy = [
  `--proxy-server=${filter.url}`,
  // Browsers go round a proxy to their own machine unless told not to.
  "--proxy-bypass-list=<-loopback>",
];
const child = spawn(browser, [...proxy, ...args], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`The browser could not be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
