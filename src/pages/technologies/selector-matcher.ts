import { selectAll } from "css-select";
import type { AnyNode, Document, Element } from "domhandler";
import { textContent } from "domutils";
import type { DomSignal } from "../../core/ports/page-browser.ts";
import type { Catalogue, Technology } from "./catalogue.ts";
import { TextIndex } from "./text-index.ts";

/** A document, with all attributes as one text so that selectors can be excluded quickly. */
export type ParsedDocument = {
  readonly document: Document;
  /** Names and values of all attributes, separated by line feeds. */
  readonly attributes: string;
  /** The sum of the depths of all elements: evaluating a selector may visit all ancestors of each element. */
  readonly depthSum: number;
};

/** Maximum elements per selector; more add no information. */
export const MAX_ELEMENTS = 50;
const MAX_TEXT = 4_096;
/** Maximum steps from elements to ancestors, for all selectors together; only pages built to be slow need so many. */
const MAX_ANCESTOR_STEPS = 50_000_000;

/**
 * Evaluates the fingerprints' selectors on a parsed document, when no browser does. It tries a selector only if the
 * document has the attribute texts that the selector needs.
 */
export class SelectorMatcher {
  readonly #index: TextIndex;
  /** The selectors of each technology, in the order of the index. */
  readonly #selectors = new Map<Technology, readonly string[]>();

  constructor(catalogue: Catalogue) {
    this.#index = new TextIndex(catalogue, "dom");
  }

  /** All signals that a selector's fingerprint uses, except properties, which only a live page has. */
  match({ document, attributes, depthSum }: ParsedDocument): DomSignal[] {
    const byOrder = this.#index
      .findCandidates(attributes)
      .sort((a, b) => a.technology.order - b.technology.order || a.index - b.index);
    // Several technologies may share a selector; a signal applies to all of them.
    const bySelector = new Map<string, Technology[]>();
    for (const { technology, index } of byOrder) {
      const selector = this.#selectorsOf(technology)[index];
      if (selector !== undefined) bySelector.set(selector, [...(bySelector.get(selector) ?? []), technology]);
    }
    const maxElements = Math.max(1, Math.floor(MAX_ANCESTOR_STEPS / Math.max(1, depthSum)));
    return [...bySelector].slice(0, maxElements).flatMap(([selector, technologies]) => {
      const elements = select(selector, document);
      return elements.length === 0 ? [] : collectSignals(selector, technologies, elements);
    });
  }

  #selectorsOf(technology: Technology): readonly string[] {
    const selectors = this.#selectors.get(technology) ?? Object.keys(technology.fingerprint.dom ?? {});
    this.#selectors.set(technology, selectors);
    return selectors;
  }
}

function select(selector: string, document: Document): Element[] {
  try {
    return selectAll<AnyNode, Element>(selector, document).slice(0, MAX_ELEMENTS);
  } catch {
    // Browsers support more pseudo-classes than the library.
    return [];
  }
}

function collectSignals(
  selector: string,
  technologies: readonly Technology[],
  elements: readonly Element[],
): DomSignal[] {
  const signals = new Map<string, DomSignal>();
  const add = (kind: DomSignal["kind"], name: string, value: string) =>
    signals.set(`${kind}\n${name}\n${value}`, { selector, kind, name, value });

  for (const technology of technologies) {
    const { exists, text, attributes } = technology.fingerprint.dom?.[selector] ?? {};
    if (exists !== undefined) add("exists", "", "");
    for (const element of elements) {
      if (text !== undefined) {
        const content = textContent(element).trim().slice(0, MAX_TEXT);
        if (content !== "") add("text", "", content);
      }
      for (const name of typeof attributes === "object" ? Object.keys(attributes) : []) {
        const value = element.attribs[name];
        if (value !== undefined) add("attributes", name, value);
      }
    }
  }
  return [...signals.values()];
}
