import type { DomSignal, PageSignals } from "../../platform/page-browser.ts";
import { type Catalogue, readCatalogue } from "./catalogue.ts";
import { type Detection, Matcher } from "./matcher.ts";
import { type ProbeArgument, probeArgument } from "./probe-argument.ts";
import { resolveDetections } from "./resolve.ts";
import { type ParsedDocument, SelectorMatcher } from "./selector-matcher.ts";
import { clampSignals } from "./signals.ts";

/** A technology that a page uses, as the contract shows it (contract, technologies result). */
export type DetectedTechnology = {
  readonly name: string;
  /** Per cent, as text. */
  readonly confidence: string;
  /** Empty when unknown. */
  readonly version: string;
  /** Icon file name. */
  readonly icon: string;
  readonly website: string;
  /** Names of its categories. */
  readonly categories: readonly string[];
};

/** Tells from the signals of a page which technologies it uses. */
export class TechnologyDetector {
  readonly #catalogue: Catalogue;
  readonly #matcher: Matcher;
  #selectors: SelectorMatcher | undefined;
  #probe: ProbeArgument | undefined;

  /**
   * @param fingerprints the text that `scripts/build-technologies.mjs` writes
   * @throws SyntaxError when it is not JSON
   */
  constructor(fingerprints: string) {
    this.#catalogue = readCatalogue(fingerprints);
    this.#matcher = new Matcher(this.#catalogue);
  }

  /** The technologies by priority of their category, then by name. Signals of any size are taken, and cut to a bounded one. */
  detect(signals: PageSignals): DetectedTechnology[] {
    return resolveDetections(this.#catalogue, this.analyze(signals)).map(
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

  /** Every match of every pattern, also of technologies whose condition is not met, in the engine's order. */
  analyze(signals: PageSignals): Detection[] {
    return this.#matcher.match(clampSignals(signals));
  }

  /** What the fingerprints' selectors find in a parsed document. */
  domSignals(document: ParsedDocument): DomSignal[] {
    this.#selectors ??= new SelectorMatcher(this.#catalogue);
    return this.#selectors.match(document);
  }

  /** What the probe has to look for in a live page. */
  get probeArgument(): ProbeArgument {
    this.#probe ??= probeArgument(this.#catalogue);
    return this.#probe;
  }
}

/**
 * A source of one detector, made on first use and kept.
 *
 * @param loadFingerprints gives the text that `scripts/build-technologies.mjs` writes; called again until it has given it once
 */
export function technologyDetector(
  loadFingerprints: () => Promise<string>,
): () => Promise<TechnologyDetector> {
  let detector: TechnologyDetector | undefined;
  return async () => {
    // Nobody waits for another request's loading: it ends when that request's client leaves.
    if (detector === undefined) {
      const text = await loadFingerprints();
      detector ??= new TechnologyDetector(text);
    }
    return detector;
  };
}
