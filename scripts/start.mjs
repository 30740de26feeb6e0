// Runs the gateway and the stand-in provider on this machine. Arguments go to `wrangler dev`, where a later one wins.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { developmentVars, quietEnvironment, root, writeDevelopmentConfig } from "./development.mjs";

const userArguments = process.argv.slice(2);

/** The value of `--name value` or `--name=value` among the user's arguments. */
function option(name) {
  const at = userArguments.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at === -1) return undefined;
  const arg = userArguments[at];
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : userArguments[at + 1];
}

const port = option("port") ?? process.env.PORT ?? "8787";
const host = option("ip") ?? "127.0.0.1";
const vars = Object.entries(developmentVars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
const inProject = (...parts) => join(root, "node_modules", ...parts);

console.log(`
  Polygate   http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}
  API key    sk-dev
  Console    http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}/admin   (admin key: admin)
  Provider   the sandbox, with three accounts; see sandbox/README.md
`);

// The browser's filter learns from the environment what the page service learns from its variable.
const privateHosts = userArguments.join(" ").match(/\bPAGE_PRIVATE_HOSTS:(\S+)/)?.[1];

// npm may run under an older Node than wrangler needs; the project brings its own.
const ownNode = inProject(".bin", process.platform === "win32" ? "node.exe" : "node");
const child = spawn(
  existsSync(ownNode) ? ownNode : process.execPath,
  [
    inProject("wrangler", "bin", "wrangler.js"),
    "dev",
    ...["-c", writeDevelopmentConfig(), "-c", join(root, "sandbox", "wrangler.toml")],
    ...vars,
    ...(option("port") === undefined ? ["--port", port] : []),
    ...userArguments,
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      ...quietEnvironment,
      ...(privateHosts !== undefined && { PAGE_PRIVATE_HOSTS: privateHosts }),
    },
  },
);

// A terminal sends Ctrl+C to both processes; any other signal is for this one alone and is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`wrangler could not be started: ${error.message}`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0));
});
