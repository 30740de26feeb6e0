import { isObject } from "../../core/encoding/json.ts";
import type { DomSignal, PageSignals } from "../../core/ports/page-browser.ts";
import type { ProbeArgument, ProbeSelector } from "./probe-argument.ts";

/** The part of the probe to run. Globals exist only in the page's own world; selectors are safer in an isolated world. */
export type ProbePart = "globals" | "selectors" | "both";

const MAX_MATCHES = 1_000;
const MAX_VALUE = 1_000;
const MAX_ELEMENTS = 50;

/** The minimal browser types for the probe, since the program is compiled without browser types. */
type ProbedElement = {
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
};
declare const document: { querySelectorAll(selector: string): ArrayLike<ProbedElement> };
declare const performance: { now(): number };

/** The probe's result: `[chain, value]` of each global, and `[selector, kind, name, value]` of each match in elements. */
type ProbeResult = {
  readonly globals: [string, string][];
  readonly found: [string, string, string, string][];
};

/**
 * Runs inside the page, from its source text. It must not refer to anything outside itself, and must not name inner
 * functions, because bundlers wrap those in helpers that the page does not have. It catches all errors that a page
 * causes. The caller's time limit must handle the rest, such as a getter that never returns.
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
        const owner: unknown = value;
        value = undefined;
        if ((typeof owner === "object" || typeof owner === "function") && owner !== null) {
          if (hasOwn.call(owner, name)) value = Reflect.get(owner, name);
        }
      }
      if (value !== undefined) {
        const isPrimitive = typeof value === "string" || typeof value === "number";
        globals.push([chain.join("."), `${isPrimitive ? value : Boolean(value)}`.slice(0, limits.value)]);
      }
    } catch {}
  }

  for (let i = 0; i < selectors.length && found.length < limits.found; i++) {
    const query = selectors[i];
    if (query === undefined || performance.now() > end) break;
    try {
      const { selector } = query;
      const elements = document.querySelectorAll(selector);
      if (elements.length > 0 && query.exists) found.push([selector, "exists", "", ""]);
      for (
        let index = 0;
        index < elements.length && index < limits.elements && found.length < limits.found;
        index++
      ) {
        const element = elements[index];
        if (element === undefined) break;
        const text = query.text ? (element.textContent ?? "").trim() : "";
        if (text !== "") found.push([selector, "text", "", text.slice(0, limits.value)]);
        for (const name of query.attributes) {
          const value = element.getAttribute(name);
          if (value !== null) found.push([selector, "attributes", name, value.slice(0, limits.value)]);
        }
        for (const name of query.properties) {
          if (!hasOwn.call(element, name)) continue;
          const value: unknown = Reflect.get(element, name);
          if (value === undefined) continue;
          const isPrimitive = typeof value === "string" || typeof value === "number";
          found.push([
            selector,
            "properties",
            name,
            `${isPrimitive ? value : Boolean(value)}`.slice(0, limits.value),
          ]);
        }
      }
    } catch {}
  }
  return { globals, found };
}

/**
 * The probe as an expression to evaluate in the page; {@link parseProbeResult} parses its value.
 *
 * @param argument the detector's argument
 * @param part run `globals` in the page's own world; run `selectors` in an isolated world, where the page cannot reach
 * the probe (element properties, which two technologies use, are visible in the page's own world only)
 * @param budget milliseconds for the whole probe, checked between steps. The caller must still limit the evaluation,
 * since a page can block its own thread.
 */
export function createProbeExpression(
  argument: ProbeArgument,
  part: ProbePart = "both",
  budget = 500,
): string {
  const selected: ProbeArgument = {
    chains: part === "selectors" ? [] : argument.chains,
    selectors: part === "globals" ? argument.selectors.flatMap(onlyProperties) : argument.selectors,
  };
  const limits = { found: MAX_MATCHES, value: MAX_VALUE, elements: MAX_ELEMENTS };
  return `(${probePage.toString()})(${JSON.stringify(selected)}, ${Number(budget)}, ${JSON.stringify(limits)})`;
}

function onlyProperties(selector: ProbeSelector): ProbeSelector[] {
  return selector.properties.length > 0 ? [{ ...selector, exists: false, text: false, attributes: [] }] : [];
}

const KINDS: readonly DomSignal["kind"][] = ["exists", "text", "attributes", "properties"];

/** Whether a value is a list of lists, each with `length` texts. */
function isTextLists(value: unknown, length: number): value is string[][] {
  if (!Array.isArray(value) || value.length > MAX_MATCHES * 2) return false;
  return value.every(
    (texts: unknown) =>
      Array.isArray(texts) && texts.length === length && texts.every((text) => typeof text === "string"),
  );
}

/** Parses the probe's result. A result of another shape, caused by an interfering page, counts as empty. */
export function parseProbeResult(result: unknown): Required<Pick<PageSignals, "js" | "dom">> {
  const none = { js: [], dom: [] };
  const { globals, found } = isObject(result) ? result : {};
  if (!isTextLists(globals, 2) || !isTextLists(found, 4)) return none;
  const js = globals.map(([chain = "", value = ""]) => ({ chain, value: value.slice(0, MAX_VALUE) }));
  const dom = new Map<string, DomSignal>();
  for (const [selector = "", kindName, name = "", value = ""] of found) {
    const kind = KINDS.find((candidate) => candidate === kindName);
    if (kind === undefined) return none;
    dom.set(JSON.stringify([selector, kind, name, value]), {
      selector,
      kind,
      name,
      value: value.slice(0, MAX_VALUE),
    });
  }
  return { js, dom: [...dom.values()] };
}
