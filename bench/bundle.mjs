import { build } from "esbuild";

/**
 * Bundles code for Workers into one ES module.
 *
 * @param {Pick<import("esbuild").BuildOptions, "entryPoints" | "loader" | "stdin">} source
 */
export async function bundle(source) {
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*", "node:*"],
    write: false,
  });
  return outputFiles[0].text;
}
