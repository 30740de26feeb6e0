import type { CDPSession } from "@cloudflare/puppeteer";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { sleep } from "../../../core/ports/clock.ts";
import { createIsolatedWorld, evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";

/** A box on the page in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An element to find, and the parameter that requested it. */
export interface ElementQuery {
  readonly selector: string;
  /** The parameter that requested the element. */
  readonly param: string;
  /** How long to wait for the element, milliseconds. */
  readonly waitMs: number;
}

const POLL_MS = 100;
const EVALUATE_MS = 2_000;
/** Maximum number of elements to check for visibility. */
const MAX_CHECKED_ELEMENTS = 1_000;
const NOT_A_SELECTOR = "not a selector";

/**
 * Polls `find` until it returns a result.
 *
 * @throws GatewayError 404 after the timeout; the signal's reason if it aborts
 */
async function waitFor<T>(
  { param, waitMs }: Omit<ElementQuery, "selector">,
  signal: AbortSignal,
  find: () => Promise<T | null>,
  condition: string,
): Promise<T> {
  const since = Date.now();
  for (;;) {
    signal.throwIfAborted();
    const found = await find();
    if (found !== null) return found;
    if (Date.now() - since >= waitMs) break;
    await sleep(POLL_MS);
  }
  throw new GatewayError(404, `The parameter ${param} matches no ${condition}.`, {
    code: "selector_not_found",
    param,
  });
}

/** Waits until an element is in the page, visible or not. Throws GatewayError 404, or 400 for an invalid selector. */
export async function waitForPresence(tab: Tab, query: ElementQuery, signal: AbortSignal): Promise<void> {
  const selector = JSON.stringify(query.selector);
  const find = async () => {
    const expression = `(() => { try { return document.querySelector(${selector}) !== null } catch { return "${NOT_A_SELECTOR}" } })()`;
    const found = await evaluateIsolated(tab, expression, EVALUATE_MS);
    if (found === NOT_A_SELECTOR) throw invalidSelector(query);
    return found === true ? true : null;
  };
  await waitFor(query, signal, find, "element within its time");
}

/** Waits until the page shows a text; white space counts as one space. Throws GatewayError 404. */
export async function waitForText(
  tab: Tab,
  query: Omit<ElementQuery, "selector"> & { readonly text: string },
  signal: AbortSignal,
): Promise<void> {
  const text = JSON.stringify(query.text.replace(/\s+/g, " "));
  const expression = `(document.body?.innerText ?? "").replace(/\\s+/g, " ").includes(${text})`;
  const find = async () => ((await evaluateIsolated(tab, expression, EVALUATE_MS)) === true ? true : null);
  await waitFor(query, signal, find, "text within its time");
}

/**
 * Waits for the first visible element that matches, and scrolls it into view. The search runs in an isolated world, so
 * page scripts cannot falsify it.
 *
 * @returns the element's remote object id
 * @throws GatewayError 404, or 400 for an invalid selector
 */
export function waitForVisible(tab: Tab, query: ElementQuery, signal: AbortSignal): Promise<string> {
  return waitFor(query, signal, () => findVisible(tab, query), "element that can be seen");
}

/** The box of the element that `waitForVisible` would find, including its border. */
export function waitForVisibleBox(tab: Tab, query: ElementQuery, signal: AbortSignal): Promise<Box> {
  const find = async () => {
    const element = await findVisible(tab, query);
    return element === null ? null : readBox(tab.session, element);
  };
  return waitFor(query, signal, find, "element that can be seen");
}

async function findVisible({ session, policy }: Tab, query: ElementQuery): Promise<string | null> {
  const contextId = await createIsolatedWorld(session, policy.mainFrame);
  if (contextId === null) return null;
  const expression = `(() => {
    let index = 0;
    let elements;
    try { elements = document.querySelectorAll(${JSON.stringify(query.selector)}) } catch { return "${NOT_A_SELECTOR}" }
    for (const element of elements) {
      if (index++ >= ${MAX_CHECKED_ELEMENTS}) break;
      const { width, height } = element.getBoundingClientRect();
      if (width >= 1 && height >= 1 && element.checkVisibility({ visibilityProperty: true })) return element;
    }
    return null;
  })()`;
  // If the page navigates away, its elements are gone.
  const answer = await session.send("Runtime.evaluate", { expression, contextId }).catch(() => null);
  if (answer?.result.value === NOT_A_SELECTOR) throw invalidSelector(query);
  const objectId = answer?.result.objectId;
  if (objectId === undefined) return null;
  await session.send("DOM.scrollIntoViewIfNeeded", { objectId }).catch(() => undefined);
  return objectId;
}

async function readBox(session: CDPSession, objectId: string): Promise<Box | null> {
  const [box, metrics] = await Promise.all([
    session.send("DOM.getBoxModel", { objectId }).catch(() => null),
    session.send("Page.getLayoutMetrics"),
  ]);
  if (box === null) return null;
  const { x, y, width, height } = boundingBox(box.model.border);
  if (!(width >= 1 && height >= 1)) return null;
  const { pageX, pageY } = metrics.cssVisualViewport;
  return { x: Math.max(0, x + pageX), y: Math.max(0, y + pageY), width, height };
}

/** Clicks on the middle of an element, as a user's mouse does: the topmost element there gets the click. */
export async function clickElement(session: CDPSession, objectId: string): Promise<void> {
  const { quads } = await session
    .send("DOM.getContentQuads", { objectId })
    .catch((): { quads: number[][] } => ({ quads: [] }));
  const box = quads.map(boundingBox).find(({ width, height }) => width > 0 && height > 0);
  if (box === undefined) return;
  const position = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await session.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...position });
  const mouse = { ...position, button: "left", clickCount: 1 } as const;
  await session.send("Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
  await session.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
}

/** The bounding box of a polygon, given as alternating x and y of its corners. */
function boundingBox(corners: readonly number[]): Box {
  const xs = corners.filter((_, index) => index % 2 === 0);
  const ys = corners.filter((_, index) => index % 2 === 1);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function invalidSelector({ param }: Pick<ElementQuery, "param">): GatewayError {
  return invalidRequest(`The parameter ${param} is not a valid CSS selector.`, param);
}

/**
 * Hides elements of a page, including those that appear later.
 *
 * @param selectors of the elements
 * @throws GatewayError 400 with `hide` for an invalid selector
 */
export async function hideElements(tab: Tab, selectors: readonly string[]): Promise<void> {
  if ((await evaluateIsolated(tab, hideScript(selectors), EVALUATE_MS)) === NOT_A_SELECTOR) {
    throw invalidSelector({ param: "hide" });
  }
}

/** Uses an adopted style sheet: unlike a style element, it is not subject to the page's content security policy. */
function hideScript(selectors: readonly string[]): string {
  return `(() => {
  const sheet = new CSSStyleSheet();
  for (const selector of ${JSON.stringify(selectors)}) {
    try {
      const { style, cssRules } = sheet.cssRules[sheet.insertRule(selector + "{display:none!important}", 0)];
      // A text that closes the braces itself would be more than a selector.
      if (style.length !== 1 || style.display !== "none" || cssRules.length > 0) return "${NOT_A_SELECTOR}";
    } catch {
      return "${NOT_A_SELECTOR}";
    }
  }
  document.adoptedStyleSheets.push(sheet);
})()`;
}
