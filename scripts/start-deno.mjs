// Runs the gateway on Deno on this machine, with the mock provider in the same process. Environment variables override
// those of development: PORT, HOST, DATA_DIR, PROVIDER_BASE_URL and all others of the deployment.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { developmentVars, root } from "./development.mjs";
import { addressOf, banner, launch, portOrExit, variable } from "./launch.mjs";

const port = portOrExit();
const host = variable("HOST", "127.0.0.1");
const env = { DENO_NO_UPDATE_CHECK: "1", ...developmentVars, ...process.env };
const ownDeno = join(root, "node_modules", ".bin", process.platform === "win32" ? "deno.cmd" : "deno");

launch(
  "Deno",
  existsSync(ownDeno) ? ownDeno : "deno",
  ["serve", "-A", "--host", host, "--port", port, "src/deno.ts"],
  { cwd: root, env },
  (listening) => addressOf("http", host, listening),
  (address) =>
    banner(address, env, [
      ["Runtime", "Deno"],
      ["Data", variable("DATA_DIR", "data")],
    ]),
);
