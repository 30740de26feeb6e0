// Baseline without Polygate: a Worker whose Durable Object keeps a warm browser and takes plain screenshots.
import { builtinModules } from "node:module";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";

const SOURCE = `
import puppeteer from "@cloudflare/puppeteer";
import { DurableObject } from "cloudflare:workers";

export class Bare extends DurableObject {
  async fetch(request) {
    this.browser ??= puppeteer.launch(this.env.BROWSER);
    const page = await (await this.browser).newPage();
    await page.setViewport({ width: 1200, height: 1200 });
    await page.goto(new URL(request.url).searchParams.get("url"));
    const image = await page.screenshot();
    await page.close();
    return new Response(image);
  }
}

export default { fetch: (request, env) => env.BARE.getByName("one").fetch(request) };
`;

/** Starts the Worker. `capture` loads a page at 1200 × 1200 and returns the bytes of its picture. */
export async function startBare() {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd"],
    external: ["cloudflare:*", "node:*"],
    alias: Object.fromEntries(
      builtinModules.filter((name) => /^[a-z]+$/.test(name)).map((name) => [name, `node:${name}`]),
    ),
    logLevel: "error",
  });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      workers: [
        {
          name: "bare",
          modules: [{ type: "ESModule", path: "bare.mjs", contents: outputFiles[0].text }],
          compatibilityDate: "2026-09-01",
          compatibilityFlags: ["nodejs_compat"],
          durableObjects: { BARE: { className: "Bare", useSQLite: true } },
          browserRendering: { binding: "BROWSER" },
          unsafeDirectSockets: [{}],
        },
      ],
    }),
  );
  await miniflare.ready;
  const origin = await miniflare.unsafeGetDirectURL("bare");
  return {
    capture: async (url) => {
      const response = await fetch(new URL(`/?${new URLSearchParams({ url })}`, origin));
      if (response.status !== 200) throw new Error(await response.text());
      return (await response.arrayBuffer()).byteLength;
    },
    close: () => miniflare.dispose(),
  };
}
