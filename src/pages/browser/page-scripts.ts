// Scripts for pages are texts, because bundlers wrap functions in helpers that pages do not have.

/**
 * Scrolls through a page so that all that waits to be seen is loaded, gives images a moment, and returns to the top. An expression
 * whose promise settles within about five seconds.
 *
 * @param height CSS pixels of the page that matter
 */
export function loadLazyContent(height: number): string {
  return `(async () => {
  const end = performance.now() + 3000;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // Two frames on, what is in view has been seen: at once, but on a machine that is busy.
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

/**
 * Whether a page looks as if it was about to lead elsewhere: it shows next to nothing and runs a script, or it says so. What is certain shows in the
 * protocol's events. An expression whose value is a boolean.
 */
export const MAY_GO_ON = `(() => {
  const refresh = document.querySelector("meta[http-equiv=refresh i]");
  if (refresh && /^\\s*[01](?:\\.\\d*)?\\s*[;,]/.test(refresh.content)) return true;
  const scripts = [...document.scripts].some(({ type }) => type === "" || /module|(?:java|ecma)script/i.test(type));
  if (!scripts || document.getElementsByTagName("*").length > 60) return false;
  if (document.querySelector("img, svg, canvas, video, iframe, object, embed")) return false;
  return (document.body?.innerText ?? "").trim().length < 200;
})()`;

/** Elements in which sites and the usual consent tools ask about cookies. */
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
 * Hides cookie banners, also those that appear later, and lets a page scroll that was locked for one. An adopted style sheet, unlike a style
 * element, is not subject to the page's own security policy.
 */
export const bannerStyle = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(${JSON.stringify(
    `${BANNERS.join(",")}{display:none!important}body.didomi-popup-open,body.cky-modal-open,html.sp-message-open,html.sp-message-open body{overflow:auto!important;position:static!important}`,
  )});
  document.adoptedStyleSheets.push(sheet);
})()`;
