// Builds the JavaScript that `npx polygate` runs, because Deno does not read TypeScript in packages. The output folder has
// the same depth as the sources, so that relative paths stay valid.
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./development.mjs";

await build({
  entryPoints: {
    server: join(root, "src", "deno.ts"),
    "image-worker": join(root, "src", "runtime", "deno", "image-worker.ts"),
  },
  outdir: join(root, "dist", "program", "deno"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2024",
  packages: "external",
  external: ["node:*"],
  keepNames: true,
  logLevel: "warning",
});
