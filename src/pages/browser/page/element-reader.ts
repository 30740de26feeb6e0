import { isObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { ElementMatch } from "../../../core/ports/page-browser.ts";
import { evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";

/** Maximum elements of one selector, and UTF-16 code units of each text and of all together. */
const MAX_MATCHES = 200;
const MAX_TEXT = 2_000_000;
const MAX_TOTAL = 4_000_000;
const MAX_ATTRIBUTES = 50;

/**
 * Reads the elements that match some selectors, in an isolated world.
 *
 * @returns for each selector its elements; none if the page does not answer in time
 * @throws GatewayError 400 for an invalid selector
 */
export async function readElements(
  tab: Tab,
  selectors: readonly string[],
  timeoutMs: number,
): Promise<ElementMatch[][]> {
  if (selectors.length === 0) return [];
  const found = await evaluateIsolated(tab, createReadScript(selectors), timeoutMs);
  if (typeof found === "string")
    throw invalidRequest(`There is no valid CSS selector in ${found.slice(0, 100)}.`, "elements");
  const lists = Array.isArray(found) ? found : [];
  return selectors.map((_, index) => toMatches(lists[index]));
}

/** An expression whose value is a list for each selector, or the first selector that is not valid. */
function createReadScript(selectors: readonly string[]): string {
  return `(() => {
  let left = ${MAX_TOTAL};
  const cut = (text) => {
    const shown = String(text ?? "").slice(0, Math.min(${MAX_TEXT}, left));
    left -= shown.length;
    return shown;
  };
  const read = (element) => ({
    html: cut(element.outerHTML),
    text: cut(element.innerText ?? element.textContent).trim(),
    attributes: Object.fromEntries([...element.attributes].slice(0, ${MAX_ATTRIBUTES}).map(({ name, value }) => [name, cut(value)])),
  });
  const lists = [];
  for (const selector of ${JSON.stringify(selectors)}) {
    try {
      lists.push([...document.querySelectorAll(selector)].slice(0, ${MAX_MATCHES}).map(read));
    } catch {
      return selector;
    }
  }
  return lists;
})()`;
}

function toMatches(list: unknown): ElementMatch[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    if (!isObject(item)) return [];
    const { text, html, attributes } = item;
    if (typeof text !== "string" || typeof html !== "string" || !isObject(attributes)) return [];
    const texts = Object.entries(attributes).map(([name, value]) => [name, String(value)] as const);
    return [{ text, html, attributes: Object.fromEntries(texts) }];
  });
}
