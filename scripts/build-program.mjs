// Makes the JavaScript that `npx polygate` runs: Deno reads no TypeScript in packages. Its folder is as deep as the sources', so that
// what they find beside them they find from here.
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./development.mjs";

await build({
  entryPoints: [join(root, "src", "deno.ts")],
  outfile: join(root, "dist", "program", "deno", "server.js"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2024",
  packages: "external",
  external: ["node:*"],
  keepNames: true,
  logLevel: "warning",
});
