// Runs the gateway on Deno on this machine, with the stand-in provider in the same process. Variables of the environment
// go before those of development: PORT, HOST, DATA_DIR, PROVIDER_BASE_URL and all others of the deployment.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { developmentVars, root } from "./development.mjs";

const { PORT: port = "8787", HOST: host = "127.0.0.1" } = process.env;
const env = { DENO_NO_UPDATE_CHECK: "1", ...developmentVars, ...process.env };
const address = `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`;
const isDevelopment = env.GATEWAY_DEVELOPMENT === developmentVars.GATEWAY_DEVELOPMENT;

console.log(`
  Polygate   ${address}   (Deno)${isDevelopment ? "\n  API key    sk-dev" : ""}
  Console    ${address}/admin${env.ADMIN_KEY === "admin" ? "   (admin key: admin)" : ""}
  Provider   ${env.PROVIDER_BASE_URL ?? (isDevelopment ? "the sandbox, with three accounts; see sandbox/README.md" : "none")}
  Data       ${env.DATA_DIR ?? "data"}
`);

const ownDeno = join(root, "node_modules", ".bin", process.platform === "win32" ? "deno.cmd" : "deno");
const child = spawn(
  existsSync(ownDeno) ? ownDeno : "deno",
  ["serve", "-A", "--host", host, "--port", port, "src/deno.ts"],
  { cwd: root, stdio: "inherit", env },
);

// A terminal sends Ctrl+C to both processes; any other signal is for this one alone and is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`Deno could not be started: ${error.message}`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0));
});
