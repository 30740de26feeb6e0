import type { CDPSession } from "@cloudflare/puppeteer";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { CaptureRequest } from "../../core/ports/page-browser.ts";
import type { PageLimits } from "../../core/ports/variables.ts";
import type { BlockLists } from "./block-lists.ts";
import type { Tab } from "./tab.ts";

/** What a capture needs in addition to the tab. */
export interface CaptureTools {
  readonly limits: PageLimits;
  /** The browser's own user agent. */
  readonly userAgent: string;
  readonly blockLists: () => BlockLists;
}

/** A transparent background colour for the browser. */
const TRANSPARENT = { r: 0, g: 0, b: 0, a: 0 };

/** Configures a tab as requested, before it loads a page. Throws GatewayError for values that the browser rejects. */
export async function emulateDevice(tab: Tab, request: CaptureRequest, tools: CaptureTools): Promise<void> {
  const { page, policy, session } = tab;
  const { screen, locale, timezone } = request;
  const version = /Chrome\/([\d.]+)/.exec(tools.userAgent)?.[1] ?? "";
  const userAgent = (request.userAgent ?? tools.userAgent).replace("%s", version);
  const lists = request.blockAds || request.blockCookieBanners ? tools.blockLists() : null;
  if (lists !== null) {
    // Never block the page's own domain: some listed hosts have pages of their own.
    const siteDomain = new URL(request.url).hostname.split(".").slice(-2).join(".");
    policy.setBlockedHosts(
      (host) =>
        !`.${host}`.endsWith(`.${siteDomain}`) &&
        ((request.blockAds && lists.isAd(host)) || (request.blockCookieBanners && lists.isConsent(host))),
    );
  }
  await Promise.all([
    page.setViewport({
      width: screen.width,
      height: screen.height,
      deviceScaleFactor: screen.deviceScaleFactor,
      isMobile: screen.mobile,
      hasTouch: screen.touch,
    }),
    page
      .setUserAgent(userAgent)
      .then(() => (locale === null ? undefined : setLocale(session, locale, userAgent))),
    // Not every browser starts without scrollbars, and captures must not show them.
    session.send("Emulation.setScrollbarsHidden", { hidden: true }).catch(() => undefined),
    timezone === null ? undefined : setTimezone(session, timezone),
    request.transparent
      ? session.send("Emulation.setDefaultBackgroundColorOverride", { color: TRANSPARENT })
      : undefined,
    request.darkMode
      ? page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }])
      : undefined,
  ]);
}

/** Sets the language of the page's requests and of its scripts. */
async function setLocale(session: CDPSession, locale: string, userAgent: string): Promise<void> {
  await Promise.all([
    session.send("Network.setUserAgentOverride", { userAgent, acceptLanguage: locale }),
    session.send("Emulation.setLocaleOverride", { locale }).catch(() => {
      throw invalidRequest("The browser does not know this locale.", "locale");
    }),
  ]);
}

async function setTimezone(session: CDPSession, timezoneId: string): Promise<void> {
  await session.send("Emulation.setTimezoneOverride", { timezoneId }).catch(() => {
    throw invalidRequest("The browser does not know this time zone.", "timezone");
  });
}
