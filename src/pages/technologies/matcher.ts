import engine, { type EngineDetection, type EnginePattern, type EnginePatterns } from "wappalyzer-core";
import type { DomSignal, PageSignals } from "../../core/ports/page-browser.ts";
import type { Catalogue, KeyedField, Technology, TextField } from "./catalogue.ts";
import { MatchBudget, matchWindows } from "./match-windows.ts";
import { listPageTexts, type PageTexts } from "./page-texts.ts";
import { isRedosProne, RedosCost } from "./redos-guard.ts";
import { TextIndex } from "./text-index.ts";

/** One match of a pattern. */
export type Detection = {
  readonly technology: Technology;
  /** The field of the fingerprint. */
  readonly type: string;
  /** The source of the engine's regular expression. */
  readonly pattern: string;
  /** The matched text. */
  readonly match: string;
  /** Percentage. */
  readonly confidence: number;
  /** Empty if the pattern does not extract a version. */
  readonly version: string;
};

/** The order in which the engine processes the fields of a technology. */
const FIELDS = [
  "certIssuer",
  "cookies",
  "css",
  "dns",
  "headers",
  "html",
  "meta",
  "robots",
  "scriptSrc",
  "scripts",
  "text",
  "url",
  "xhr",
] as const;

/**
 * Matches signals against all technologies. The engine decides on each pattern. The indexes only skip patterns that
 * cannot match, so the result and its order are the same as if the engine tried all.
 */
export class SignalMatcher {
  readonly #catalogue: Catalogue;
  readonly #textIndexes = new Map<TextField, TextIndex>();
  readonly #keyIndexes = new Map<KeyedField | "dom", Map<string, Technology[]>>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** @param signals clamped, with names in lower case: the result of `clampSignals` */
  match(signals: PageSignals): Detection[] {
    const budget = new MatchBudget();
    const texts = listPageTexts(signals).flatMap((run) => this.#matchRun(run, budget));
    return [...texts, ...this.#matchGlobals(signals), ...this.#matchSelectors(signals.dom ?? [])];
  }

  #matchRun(items: PageTexts, budget: MatchBudget): Detection[] {
    const byTechnology = new Map<Technology, (readonly Detection[])[]>();
    FIELDS.forEach((field, position) => {
      const found = this.#matchField(field, items, budget);
      for (const [technology, detections] of found) {
        const fields = byTechnology.get(technology) ?? [];
        byTechnology.set(technology, fields);
        fields[position] = detections;
      }
    });
    return [...byTechnology].sort(([a], [b]) => a.order - b.order).flatMap(([, fields]) => fields.flat());
  }

  #matchField(
    field: (typeof FIELDS)[number],
    items: PageTexts,
    budget: MatchBudget,
  ): Map<Technology, Detection[]> {
    switch (field) {
      case "cookies":
      case "dns":
      case "headers":
      case "meta":
        return this.#matchKeyed(field, items);
      case "scriptSrc":
        return this.#matchScriptSources(items);
      default:
        return this.#matchText(field, items, budget);
    }
  }

  #matchText(
    field: Exclude<TextField, "scriptSrc">,
    items: PageTexts,
    budget: MatchBudget,
  ): Map<Technology, Detection[]> {
    const found = new Map<Technology, Detection[]>();
    const text = items[field];
    if (text === undefined || text.length === 0) return found;
    const candidates = this.#textIndex(field)
      .findCandidates(text)
      .sort((a, b) => a.index - b.index);
    for (const { technology, index, positions } of candidates) {
      const patterns = technology.pattern(field, index);
      const view = { name: technology.name, [field]: patterns };
      const span = technology.fingerprint.spans?.[field]?.[index] ?? 0;
      for (const window of matchWindows(text, positions, span, patterns, budget)) {
        const detections = runPattern(technology, () => engine.analyzeOneToOne(view, field, window));
        if (detections.length === 0) continue;
        found.set(technology, [...(found.get(technology) ?? []), ...detections]);
        break;
      }
    }
    return found;
  }

  #matchScriptSources({ scriptSrc = [] }: PageTexts): Map<Technology, Detection[]> {
    // For each technology: the indexes of the addresses that its patterns could match, with the indexes of those
    // patterns.
    const candidates = new Map<Technology, Map<number, number[]>>();
    const costs = new Map<EnginePattern, RedosCost>();
    for (const [sourceIndex, address] of scriptSrc.entries()) {
      for (const { technology, index, positions = [] } of this.#textIndex("scriptSrc").findCandidates(
        address,
      )) {
        const patternsBySource = candidates.get(technology) ?? new Map<number, number[]>();
        candidates.set(technology, patternsBySource);
        patternsBySource.set(sourceIndex, [...(patternsBySource.get(sourceIndex) ?? []), index]);
        for (const pattern of technology.pattern("scriptSrc", index).filter(isRedosProne)) {
          const cost = costs.get(pattern) ?? new RedosCost();
          costs.set(pattern, cost);
          cost.add(address, positions);
        }
      }
    }
    const found = new Map<Technology, Detection[]>();
    for (const [technology, patternsBySource] of candidates) {
      const detections = [...patternsBySource].flatMap(([sourceIndex, indexes]) => {
        const patterns = indexes
          .sort((a, b) => a - b)
          .flatMap((index) => technology.pattern("scriptSrc", index))
          .filter((pattern) => !costs.get(pattern)?.exceedsLimit);
        const view = { name: technology.name, scriptSrc: patterns };
        return runPattern(technology, () =>
          engine.analyzeOneToMany(view, "scriptSrc", scriptSrc.slice(sourceIndex, sourceIndex + 1)),
        );
      });
      if (detections.length > 0) found.set(technology, detections);
    }
    return found;
  }

  #matchKeyed(field: "cookies" | "dns" | "headers" | "meta", items: PageTexts): Map<Technology, Detection[]> {
    const found = new Map<Technology, Detection[]>();
    const values = items[field];
    if (values === undefined) return found;
    const index = this.#keyIndex(field);
    const technologies = new Set<Technology>();
    for (const [key, texts] of Object.entries(values)) {
      // For some names there are hundreds of patterns, of which few match: the engine's own loop costs more than a
      // pattern.
      for (const technology of index.get(key) ?? []) {
        if (!technologies.has(technology) && mayMatch(technology.keyed(field), key, texts)) {
          technologies.add(technology);
        }
      }
    }
    for (const technology of technologies) {
      const view = { name: technology.name, [field]: technology.keyed(field) };
      const detections = runPattern(technology, () => engine.analyzeManyToMany(view, field, values));
      if (detections.length > 0) found.set(technology, detections);
    }
    return found;
  }

  #matchGlobals({ js = [] }: PageSignals): Detection[] {
    const index = this.#keyIndex("js");
    return js.flatMap(({ chain, value }) =>
      (index.get(chain) ?? []).flatMap((technology) =>
        runPattern(technology, () =>
          engine.analyzeManyToMany(
            { name: technology.name, js: technology.keyed("js") },
            "js",
            singleText(chain, value),
          ),
        ),
      ),
    );
  }

  #matchSelectors(dom: readonly DomSignal[]): Detection[] {
    const index = this.#keyIndex("dom");
    return dom.flatMap((signal) => {
      const technologies = (index.get(signal.selector) ?? []).filter((technology) =>
        usesSignal(technology, signal),
      );
      const type = signal.name === "" ? `dom.${signal.kind}` : `dom.${signal.kind}.${signal.name}`;
      return technologies.flatMap((technology) =>
        runPattern(technology, () =>
          engine.analyzeManyToMany(
            { name: technology.name, dom: technology.keyed("dom") },
            type,
            singleText(signal.selector, signal.value),
          ),
        ),
      );
    });
  }

  #textIndex(field: TextField): TextIndex {
    const index = this.#textIndexes.get(field) ?? new TextIndex(this.#catalogue, field);
    this.#textIndexes.set(field, index);
    return index;
  }

  #keyIndex(field: KeyedField | "dom"): Map<string, Technology[]> {
    const index = this.#keyIndexes.get(field) ?? indexKeys(this.#catalogue, field);
    this.#keyIndexes.set(field, index);
    return index;
  }
}

function indexKeys(catalogue: Catalogue, field: KeyedField | "dom"): Map<string, Technology[]> {
  const index = new Map<string, Technology[]>();
  for (const technology of catalogue.technologies) {
    const keys = Object.keys(technology.fingerprint[field] ?? {});
    const exact = field === "js" || field === "dom";
    for (const key of new Set(exact ? keys : keys.map((name) => name.toLowerCase()))) {
      const technologies = index.get(key) ?? [];
      index.set(key, technologies);
      technologies.push(technology);
    }
  }
  return index;
}

/** Whether the selector's fingerprint uses this kind of signal. */
function usesSignal(technology: Technology, { selector, kind, name }: DomSignal): boolean {
  const condition = technology.fingerprint.dom?.[selector]?.[kind];
  if (condition === undefined) return false;
  return name === ""
    ? typeof condition !== "object"
    : typeof condition === "object" && Object.hasOwn(condition, name);
}

/** Whether one of the patterns of a name matches one of its texts, or throws on it. */
function mayMatch(patterns: EnginePatterns, name: string, texts: readonly string[]): boolean {
  const candidates = Array.isArray(patterns) ? [] : (patterns[name] ?? []);
  try {
    return candidates.some(({ regex }) => texts.some((text) => regex.test(text)));
  } catch {
    return true;
  }
}

/** Uses an object without prototype, so that names chosen by a page cannot hit inherited properties. */
function singleText(name: string, value: string): Record<string, string[]> {
  const texts: Record<string, string[]> = Object.create(null);
  texts[name] = [value];
  return texts;
}

/** Treats a pattern that throws as one without a match: a regular expression can exhaust its stack. */
function runPattern(technology: Technology, run: () => readonly EngineDetection[]): Detection[] {
  try {
    return run().map(({ pattern, version }) => toDetection(technology, pattern, version));
  } catch {
    return [];
  }
}

function toDetection(
  technology: Technology,
  pattern: EnginePattern & { readonly type: string; readonly match: string },
  version: string,
): Detection {
  const { type, regex, match, confidence } = pattern;
  return { technology, type, pattern: regex.source, match, confidence, version };
}
