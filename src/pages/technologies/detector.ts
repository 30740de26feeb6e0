import type { DomSignal, PageSignals } from "../../core/ports/page-browser.ts";
import { type Catalogue, parseCatalogue } from "./catalogue.ts";
import { clampSignals } from "./clamp-signals.ts";
import { type Detection, SignalMatcher } from "./matcher.ts";
import { createProbeArgument, type ProbeArgument } from "./probe-argument.ts";
import { resolveDetections } from "./resolve-detections.ts";
import { type ParsedDocument, SelectorMatcher } from "./selector-matcher.ts";

/** A technology that a page uses (docs/page-contract.md, Technologies result). */
export type DetectedTechnology = {
  readonly name: string;
  /** Percentage as text. */
  readonly confidence: string;
  /** Empty if unknown. */
  readonly version: string;
  /** Icon file name. */
  readonly icon: string;
  readonly website: string;
  /** Names of its categories. */
  readonly categories: readonly string[];
};

/** Detects the technologies of a page from its signals. */
export class TechnologyDetector {
  readonly #catalogue: Catalogue;
  readonly #matcher: SignalMatcher;
  #selectors: SelectorMatcher | undefined;
  #probe: ProbeArgument | undefined;

  /**
   * @param fingerprints the text that `scripts/build-technologies.mjs` writes
   * @throws SyntaxError if it is not JSON
   */
  constructor(fingerprints: string) {
    this.#catalogue = parseCatalogue(fingerprints);
    this.#matcher = new SignalMatcher(this.#catalogue);
  }

  /** The technologies, sorted by the priority of their category, then by name. Truncates large signals. */
  detect(signals: PageSignals): DetectedTechnology[] {
    return resolveDetections(this.#catalogue, this.findMatches(signals)).map(
      ({ technology, confidence, version }) => ({
        name: technology.name,
        confidence: String(confidence),
        version,
        icon: technology.icon,
        website: technology.fingerprint.website,
        categories: technology.fingerprint.cats.flatMap(
          (id) => this.#catalogue.categories.get(id)?.name ?? [],
        ),
      }),
    );
  }

  /** All matches of all patterns, in the engine's order, including technologies whose condition is not met. */
  findMatches(signals: PageSignals): Detection[] {
    return this.#matcher.match(clampSignals(signals));
  }

  /** The matches of the fingerprints' selectors in a parsed document. */
  domSignals(document: ParsedDocument): DomSignal[] {
    this.#selectors ??= new SelectorMatcher(this.#catalogue);
    return this.#selectors.match(document);
  }

  /** What the probe must look for in a live page. */
  get probeArgument(): ProbeArgument {
    this.#probe ??= createProbeArgument(this.#catalogue);
    return this.#probe;
  }
}

/**
 * Returns a function that creates the detector on first use and then reuses it.
 *
 * @param loadFingerprints returns the text that `scripts/build-technologies.mjs` writes; called again until it succeeds
 * once
 */
export function createLazyDetector(
  loadFingerprints: () => Promise<string>,
): () => Promise<TechnologyDetector> {
  let detector: TechnologyDetector | undefined;
  return async () => {
    // Each request loads for itself: a shared load would be cancelled when the first request's client disconnects.
    if (detector === undefined) {
      const text = await loadFingerprints();
      detector ??= new TechnologyDetector(text);
    }
    return detector;
  };
}
