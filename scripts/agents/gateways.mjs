import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { cache } from "./install.mjs";
import { root, stopGroup } from "./process.mjs";

/** The key that every client uses. */
export const KEY = "sk-dev";

/**
 * A gateway under test.
 *
 * @typedef {object} Gateway
 * @property {string} driver the driver behind it
 * @property {string} url without a slash at its end
 * @property {() => void} stop
 */

/**
 * Starts the gateways, by the name of their driver: one on workerd, with the sandbox behind it (its calls are markup),
 * and one on Deno that asks the first one as its chat-completions backend (calls are native).
 *
 * @param {readonly string[]} drivers those that are wanted
 * @returns {Promise<Gateway[]>}
 */
export async function startGateways(drivers) {
  const sessions = await start("sessions", "start.mjs", (port) => ({
    args: ["--port", port, "--persist-to", join(cache, "state", "workerd")],
  }));
  const gateways = drivers.includes("sessions") ? [sessions] : [];
  try {
    if (drivers.includes("openai")) {
      const settings = { keys: [KEY], accounts: [{ token: KEY }], thinking_injection: { enabled: false } };
      gateways.push(
        await start("openai", "start-deno.mjs", (port) => ({
          env: {
            PORT: port,
            DATA_DIR: join(cache, "state", "deno"),
            PROVIDER_DRIVER: "openai",
            PROVIDER_BASE_URL: `${sessions.url}/v1`,
            GATEWAY_CONFIG_JSON: JSON.stringify(settings),
          },
        })),
      );
    }
  } catch (error) {
    sessions.stop();
    throw error;
  }
  if (!gateways.includes(sessions)) gateways.at(-1).stop = both(gateways.at(-1).stop, sessions.stop);
  return gateways;
}

const both = (one, other) => () => {
  one();
  other();
};

/** Starts one; its output goes to a file in the cache. */
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

/** @returns {Promise<number>} a port that nobody listens on */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
