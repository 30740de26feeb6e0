// Generates the types of the Worker's bindings from the sources, not from the build. With `--check` it reports whether they
// are up to date.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./development.mjs";

const types = "src/runtime/cloudflare/bindings.d.ts";
/** Source file that the generated types name. It is the same for every run. */
const source = ".types.wrangler.toml";
// Paths in the file are relative to its folder. The process id separates concurrent runs.
const name = `.types.${process.pid}.wrangler.toml`;
const config = join(root, name);
const deployment = readFileSync(join(root, "wrangler.toml"), "utf8");
writeFileSync(
  config,
  deployment.replace(/^main = .*$/m, 'main = "src/worker.ts"').replace(/^\[build\]\n(?:\w.*\n)*/m, ""),
);
try {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const args = ["types", types, "-c", name];
  const how = ["--include-runtime=false", "--env-interface=Bindings", "--env-file=/dev/null"];
  const { status } = spawnSync(process.execPath, [wrangler, ...args, ...how, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
  const path = join(root, types);
  const made = readFileSync(path, "utf8");
  if (made.includes(name)) writeFileSync(path, made.replaceAll(name, source));
} finally {
  rmSync(config, { force: true });
}
