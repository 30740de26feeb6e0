// Runs the gateway on Deno on this machine, with the mock provider in the same process. Environment variables override
// those of development: PORT, HOST, DATA_DIR, PROVIDER_BASE_URL and all others of the deployment.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { developmentVars, root } from "./development.mjs";
import { addressOf, launch, portOrExit, startMessage, variable } from "./launch.mjs";
import { describeMissingFonts } from "./missing-fonts.mjs";
import { readDenoArguments } from "./options.mjs";

const options = readDenoArguments(process.argv.slice(2));
const port = portOrExit(options.port);
const host = options.host ?? variable("HOST", "127.0.0.1");
const data = options.data ?? variable("DATA_DIR", "data");
const env = { DENO_NO_UPDATE_CHECK: "1", ...developmentVars, ...process.env, DATA_DIR: data };
const ownDeno = join(root, "node_modules", ".bin", process.platform === "win32" ? "deno.cmd" : "deno");

launch(
  "Deno",
  existsSync(ownDeno) ? ownDeno : "deno",
  ["serve", "-A", "--host", host, "--port", port, "src/deno.ts"],
  { cwd: root, env },
  (listening) => addressOf("http", host, listening),
  (address) => startMessage(address, env, [["Runtime", "Deno"], ["Data", data], ...describeMissingFonts()]),
);
