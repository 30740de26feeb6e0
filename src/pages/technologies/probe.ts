import { isObject } from "../../encoding/json.ts";
import type { DomSignal, PageSignals } from "../../platform/page-browser.ts";
import type { ProbeArgument, ProbeSelector } from "./probe-argument.ts";

/** Which part of the probe runs: globals exist only in the page's own world; selectors are safer in an isolated one. */
export type ProbePart = "globals" | "selectors" | "both";

const MAX_FOUND = 1_000;
const MAX_VALUE = 1_000;
const MAX_ELEMENTS = 50;

/** The little of a browser that the probe uses, since the program itself knows no browser types. */
type ProbedElement = {
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
};
declare const document: { querySelectorAll(selector: string): ArrayLike<ProbedElement> };
declare const performance: { now(): number };

/** What the probe returns: `[chain, value]` of each global, and `[selector, kind, name, value]` of what was found in elements. */
type ProbeResult = {
  readonly globals: [string, string][];
  readonly found: [string, string, string, string][];
};

/**
 * Runs inside the page, from its source text: it may refer to nothing outside itself and names no inner function, because
 * bundlers wrap those in helpers that the page does not have. Whatever a page does to it is caught; what cannot be
 * caught, such as a getter that never returns, is for the caller's time limit.
 */
function probePage(
  { chains, selectors }: ProbeArgument,
  budget: number,
  limits: { found: number; value: number; elements: number },
): ProbeResult {
  const globals: [string, string][] = [];
  const found: [string, string, string, string][] = [];
  const end = performance.now() + budget;
  const hasOwn = Object.prototype.hasOwnProperty;

  for (let i = 0; i < chains.length && globals.length < limits.found; i++) {
    const chain = chains[i];
    if (chain === undefined || performance.now() > end) break;
    try {
      let value: unknown = globalThis;
      for (let part = 0; part < chain.length && value !== undefined; part++) {
        const name = chain[part] ?? "";
        const holder: unknown = value;
        value = undefined;
        if ((typeof holder === "object" || typeof holder === "function") && holder !== null) {
          if (hasOwn.call(holder, name)) value = Reflect.get(holder, name);
        }
      }
      if (value !== undefined) {
        const plain = typeof value === "string" || typeof value === "number";
        globals.push([chain.join("."), `${plain ? value : Boolean(value)}`.slice(0, limits.value)]);
      }
    } catch {}
  }

  for (let i = 0; i < selectors.length && found.length < limits.found; i++) {
    const wanted = selectors[i];
    if (wanted === undefined || performance.now() > end) break;
    try {
      const { selector } = wanted;
      const elements = document.querySelectorAll(selector);
      if (elements.length > 0 && wanted.exists) found.push([selector, "exists", "", ""]);
      for (let at = 0; at < elements.length && at < limits.elements && found.length < limits.found; at++) {
        const element = elements[at];
        if (element === undefined) break;
        const text = wanted.text ? (element.textContent ?? "").trim() : "";
        if (text !== "") found.push([selector, "text", "", text.slice(0, limits.value)]);
        for (const name of wanted.attributes) {
          const value = element.getAttribute(name);
          if (value !== null) found.push([selector, "attributes", name, value.slice(0, limits.value)]);
        }
        for (const name of wanted.properties) {
          if (!hasOwn.call(element, name)) continue;
          const value: unknown = Reflect.get(element, name);
          if (value === undefined) continue;
          const plain = typeof value === "string" || typeof value === "number";
          found.push([
            selector,
            "properties",
            name,
            `${plain ? value : Boolean(value)}`.slice(0, limits.value),
          ]);
        }
      }
    } catch {}
  }
  return { globals, found };
}

/**
 * The probe as an expression for the page to evaluate; its value is for {@link readProbe}.
 *
 * @param argument of the detector
 * @param part run `globals` in the page's own world; `selectors` in an isolated world, where the page cannot reach the probe
 *   (properties of elements, which two technologies have, are seen in the page's own world only)
 * @param budget milliseconds for the whole probe. It is checked between steps; the caller must still limit the evaluation, since a page can
 *   block its own thread.
 */
export function probeExpression(argument: ProbeArgument, part: ProbePart = "both", budget = 500): string {
  const wanted: ProbeArgument = {
    chains: part === "selectors" ? [] : argument.chains,
    selectors: part === "globals" ? argument.selectors.flatMap(onlyProperties) : argument.selectors,
  };
  const limits = { found: MAX_FOUND, value: MAX_VALUE, elements: MAX_ELEMENTS };
  return `(${probePage.toString()})(${JSON.stringify(wanted)}, ${Number(budget)}, ${JSON.stringify(limits)})`;
}

function onlyProperties(wanted: ProbeSelector): ProbeSelector[] {
  return wanted.properties.length > 0 ? [{ ...wanted, exists: false, text: false, attributes: [] }] : [];
}

const KINDS: readonly DomSignal["kind"][] = ["exists", "text", "attributes", "properties"];

/** Whether a value is a list of lists, each of so many texts. */
function isTexts(value: unknown, length: number): value is string[][] {
  if (!Array.isArray(value) || value.length > MAX_FOUND * 2) return false;
  return value.every(
    (texts: unknown) =>
      Array.isArray(texts) && texts.length === length && texts.every((text) => typeof text === "string"),
  );
}

/**
 * Reads what the probe returned. Anything that is not of its shape, because a page interfered, counts as nothing found.
 */
export function readProbe(result: unknown): Required<Pick<PageSignals, "js" | "dom">> {
  const nothing = { js: [], dom: [] };
  const { globals, found } = isObject(result) ? result : {};
  if (!isTexts(globals, 2) || !isTexts(found, 4)) return nothing;
  const js = globals.map(([chain = "", value = ""]) => ({ chain, value: value.slice(0, MAX_VALUE) }));
  const dom = new Map<string, DomSignal>();
  for (const [selector = "", given, name = "", value = ""] of found) {
    const kind = KINDS.find((known) => known === given);
    if (kind === undefined) return nothing;
    dom.set(JSON.stringify([selector, kind, name, value]), {
      selector,
      kind,
      name,
      value: value.slice(0, MAX_VALUE),
    });
  }
  return { js, dom: [...dom.values()] };
}
