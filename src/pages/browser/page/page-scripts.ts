// Scripts for pages are strings, because bundlers wrap functions in helpers that pages do not have.

/**
 * Scrolls through a page so that its lazy content loads, waits a moment for images, and returns to the top. An
 * expression whose promise settles within about five seconds.
 *
 * @param height the relevant height of the page, CSS pixels
 */
export function createLazyLoadScript(height: number): string {
  return `(async () => {
  const end = performance.now() + 3000;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // After two frames the browser has seen what is in view. Usually that is at once; a busy machine takes longer.
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  for (const element of document.querySelectorAll("img[loading=lazy], iframe[loading=lazy]")) element.loading = "eager";
  const bottom = () => Math.min(${Number(height)}, document.documentElement.scrollHeight);
  for (let y = 0; y < bottom() && performance.now() < end; y += innerHeight) {
    scrollTo({ top: y, behavior: "instant" });
    await Promise.all([wait(60), Promise.race([drawn(), wait(300)])]);
  }
  const loading = [...document.images].filter((image) => !image.complete);
  await Promise.race([
    wait(2000),
    Promise.all(loading.map((image) => new Promise((resolve) => {
      image.addEventListener("load", resolve);
      image.addEventListener("error", resolve);
    }))),
  ]);
  scrollTo({ top: 0, behavior: "instant" });
  await wait(30);
})()`;
}

/** Scrolls the first element of a selector to the top of the viewport. */
export function createScrollScript(selector: string): string {
  return `document.querySelector(${JSON.stringify(selector)})?.scrollIntoView({ block: "start", behavior: "instant" })`;
}

/**
 * Lays out the largest scroll area at its full height, if the page itself does not scroll but an area in it that fills
 * at least half of the viewport does.
 */
export const EXPAND_SCROLL_AREA = `(() => {
  const root = document.scrollingElement ?? document.documentElement;
  if (root.scrollHeight > innerHeight + 50) return;
  let area = null;
  for (const element of [...document.body.getElementsByTagName("*")].slice(0, 20000)) {
    const { clientWidth, clientHeight, scrollHeight } = element;
    if (scrollHeight < clientHeight + 50 || clientWidth * clientHeight < (innerWidth * innerHeight) / 2) continue;
    if (!/auto|scroll/.test(getComputedStyle(element).overflowY)) continue;
    if (area === null || scrollHeight > area.scrollHeight) area = element;
  }
  for (let element = area; element !== null; element = element.parentElement) {
    const { style } = element;
    for (const name of ["height", "max-height", "overflow"]) {
      style.setProperty(name, { height: "auto", "max-height": "none", overflow: "visible" }[name], "important");
    }
    if (getComputedStyle(element).position === "fixed") style.setProperty("position", "absolute", "important");
  }
})()`;

/**
 * Whether a page seems about to navigate away: it shows almost nothing and runs a script, or it has a refresh tag.
 * (Protocol events show navigations that have been announced.) An expression with a boolean value.
 */
export const MAY_NAVIGATE_AWAY = `(() => {
  const refresh = document.querySelector("meta[http-equiv=refresh i]");
  if (refresh && /^\\s*[01](?:\\.\\d*)?\\s*[;,]/.test(refresh.content)) return true;
  const scripts = [...document.scripts].some(({ type }) => type === "" || /module|(?:java|ecma)script/i.test(type));
  if (!scripts || document.getElementsByTagName("*").length > 60) return false;
  if (document.querySelector("img, svg, canvas, video, iframe, object, embed")) return false;
  return (document.body?.innerText ?? "").trim().length < 200;
})()`;

/**
 * Fills an empty document with markup whose scripts do not run, and waits a moment for its style sheets and images. An
 * expression whose promise settles within about two seconds.
 */
export function createFillScript(markup: string): string {
  return `(async () => {
  const { documentElement, head, body } = new DOMParser().parseFromString(${JSON.stringify(markup)}, "text/html");
  const copyAttributes = (from, to) => {
    for (const { name, value } of from.attributes) {
      // An event handler would be a script.
      if (!name.startsWith("on")) to.setAttributeNS(null, name, value);
    }
  };
  copyAttributes(documentElement, document.documentElement);
  copyAttributes(body, document.body);
  document.head.append(...head.childNodes);
  document.body.append(...body.childNodes);
  const loading = [...document.querySelectorAll("link[rel~=stylesheet], img[src]")].filter(
    (element) => element.sheet === null || element.complete === false,
  );
  const loaded = loading.map((element) => new Promise((resolve) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", resolve);
  }));
  await Promise.race([Promise.all(loaded), new Promise((resolve) => setTimeout(resolve, 1500))]);
})()`;
}

/** Selectors of cookie banners of sites and of the common consent tools. */
const BANNERS = [
  "#onetrust-consent-sdk",
  "#onetrust-banner-sdk",
  "#CybotCookiebotDialog",
  "#CybotCookiebotDialogBodyUnderlay",
  "#usercentrics-root",
  "#usercentrics-cmp-ui",
  "#didomi-host",
  "#qc-cmp2-container",
  "#truste-consent-track",
  "#consent_blackbar",
  "#iubenda-cs-banner",
  "#cookiescript_injected",
  "#cookie-law-info-bar",
  "#cmplz-cookiebanner-container",
  "#BorlabsCookieBox",
  "#klaro",
  "#hs-eu-cookie-confirmation",
  "#cookie-notice",
  "#cookie-banner",
  "#cookie-consent",
  "#cookieConsent",
  "#cookie-bar",
  "#cookies-banner",
  "#gdpr-consent-tool-wrapper",
  "#gdpr-cookie-notice",
  "#sp_message_container",
  "[id^='sp_message_container_']",
  "#tarteaucitronRoot",
  "#ez-cookie-dialog-wrapper",
  "#termly-code-snippet-support",
  "#shopify-pc__banner",
  ".cc-window",
  ".cky-consent-container",
  ".cky-overlay",
  ".osano-cm-window",
  ".fc-consent-root",
  ".evidon-banner",
  ".cmpboxBG",
  ".cmpbox",
  ".moove-gdpr-info-bar-container",
  ".cookie-banner",
  ".cookie-consent",
  ".cookie-notice",
  ".cookie-bar",
  ".cookieconsent",
  ".gdpr-banner",
  "div[aria-label='cookieconsent']",
];

/**
 * Hides cookie banners, including those that appear later, and makes a page scrollable that was locked for a banner.
 * Uses an adopted style sheet: unlike a style element, it is not subject to the page's content security policy.
 */
export const HIDE_BANNERS = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(${JSON.stringify(
    `${BANNERS.join(",")}{display:none!important}body.didomi-popup-open,body.cky-modal-open,html.sp-message-open,html.sp-message-open body{overflow:auto!important;position:static!important}`,
  )});
  document.adoptedStyleSheets.push(sheet);
})()`;
