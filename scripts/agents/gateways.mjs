import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { cache } from "./install.mjs";
import { root, stopGroup } from "./process.mjs";

/** API key of all clients. */
export const KEY = "sk-dev";

/**
 * A gateway under test.
 *
 * @typedef {object} Gateway
 * @property {string} driver its provider driver
 * @property {string} url without a trailing slash
 * @property {() => void} stop
 */

/** Drivers whose protocol is one of the gateway's own API styles, with the path of that style. */
const BEHIND = { openai: "/v1", "openai-responses": "/v1", anthropic: "/anthropic", gemini: "" };

/** Drivers that `--driver` accepts. */
export const DRIVERS = ["sessions", ...Object.keys(BEHIND)];

/**
 * Starts one gateway per driver. The gateway for `sessions` runs on workerd with the sandbox as its provider (tool calls
 * are markup). Every other gateway runs on Deno with the first gateway as its provider (tool calls are native).
 *
 * @param {readonly string[]} drivers some of {@link DRIVERS}
 * @param {(driver: string, url: string) => string | Promise<string>} [addressFor] the address at which the gateway with a
 *   driver finds its provider; default: the provider's own
 * @returns {Promise<{ gateways: Gateway[], standIn: Gateway, stop: () => void }>} `standIn` is the provider of the gateways
 *   with native tool calls; `stop` ends all started processes
 */
export async function startGateways(drivers, addressFor = (_driver, url) => url) {
  const sessions = await start("sessions", "start.mjs", (port) => ({
    args: ["--port", port, "--persist-to", join(cache, "state", "workerd")],
  }));
  const started = [sessions];
  const stop = () => {
    for (const gateway of started) gateway.stop();
  };
  try {
    for (const driver of drivers.filter((driver) => driver !== "sessions")) {
      const address = await addressFor(driver, sessions.url);
      const settings = { keys: [KEY], accounts: [{ token: KEY }], thinking_injection: { enabled: false } };
      started.push(
        await start(driver, "start-deno.mjs", (port) => ({
          env: {
            PORT: port,
            DATA_DIR: join(cache, "state", driver),
            PROVIDER_DRIVER: driver,
            PROVIDER_BASE_URL: address + BEHIND[driver],
            GATEWAY_CONFIG_JSON: JSON.stringify(settings),
          },
        })),
      );
    }
  } catch (error) {
    stop();
    throw error;
  }
  return { gateways: started.filter(({ driver }) => drivers.includes(driver)), standIn: sessions, stop };
}

/** Starts one gateway. Its output goes to a file in the cache folder. */
async function start(driver, script, settings) {
  const port = await freePort();
  const { args = [], env = {} } = settings(String(port));
  const log = openSync(join(cache, `gateway-${driver}.log`), "w");
  const child = spawn(process.execPath, [join(root, "scripts", script), ...args], {
    cwd: root,
    stdio: ["ignore", log, log],
    detached: true,
    env: { ...process.env, ...env },
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 240 && child.exitCode === null; tries += 1) {
    const healthy = await fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return { driver, url, stop: () => stopGroup(child, "SIGTERM") };
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  stopGroup(child, "SIGTERM");
  throw new Error(
    `the gateway with the driver ${driver} did not start: see .cache/agents/gateway-${driver}.log`,
  );
}
