import type { CDPSession } from "@cloudflare/puppeteer";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { CaptureRequest, Screen } from "../../../core/ports/page-browser.ts";
import type { PageLimits } from "../../../core/variables/variables.ts";
import type { BlockLists } from "./block-lists.ts";
import { createIdentity, DEFAULT_LOCALE } from "./identity.ts";
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
  const { policy, session } = tab;
  const { timezone } = request;
  const lists = request.blockAds || request.blockCookieBanners ? tools.blockLists() : null;
  if (lists !== null) {
    const pageHost = new URL(request.url).hostname;
    policy.setBlockedHosts(
      (host) =>
        (request.blockAds && lists.isAd(host, pageHost)) ||
        (request.blockCookieBanners && lists.isConsent(host, pageHost)),
    );
  }
  await Promise.all([
    emulateVisitor(tab, request, tools.userAgent),
    timezone === null ? undefined : setTimezone(session, timezone),
    request.transparent
      ? session.send("Emulation.setDefaultBackgroundColorOverride", { color: TRANSPARENT })
      : undefined,
    emulateMedia(session, request),
  ]);
}

/** Sets the media type and the preferences of a page's style sheets. */
async function emulateMedia(
  session: CDPSession,
  { darkMode, reducedMotion, media }: CaptureRequest,
): Promise<void> {
  const features = [
    ...(darkMode ? [{ name: "prefers-color-scheme", value: "dark" }] : []),
    ...(reducedMotion ? [{ name: "prefers-reduced-motion", value: "reduce" }] : []),
  ];
  if (features.length === 0 && media === null) return;
  await session.send("Emulation.setEmulatedMedia", { ...(media !== null && { media }), features });
}

/** The device and the language of a page's visitor. */
export interface Visitor {
  readonly screen: Screen;
  /** `%s` is replaced by the browser's version; null: the browser's own user agent. */
  readonly userAgent: string | null;
  /** Language tag; null: American English. */
  readonly locale: string | null;
}

/** The visitor of a page whose caller asks for no device. */
export const DESKTOP_VISITOR: Visitor = {
  screen: { width: 1200, height: 1200, deviceScaleFactor: 1, mobile: false, touch: false },
  userAgent: null,
  locale: null,
};

/**
 * Makes a tab one consistent device: screen, user agent, client hints and language. Throws GatewayError for a locale
 * that the browser does not know.
 *
 * @param browserAgent the browser's own user agent
 */
export async function emulateVisitor(
  { page, session }: Pick<Tab, "page" | "session">,
  visitor: Visitor,
  browserAgent: string,
): Promise<void> {
  const { width, height, deviceScaleFactor, mobile, touch } = visitor.screen;
  const version = /Chrome\/([\d.]+)/.exec(browserAgent)?.[1] ?? "";
  const userAgent = (visitor.userAgent ?? browserAgent).replace("%s", version);
  const locale = visitor.locale ?? DEFAULT_LOCALE;
  const setScreen = async () => {
    await page.setViewport({ width, height, deviceScaleFactor, isMobile: mobile, hasTouch: touch });
    // The library does not set the size of the screen.
    await session.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor,
      mobile,
      screenWidth: width,
      screenHeight: height,
      screenOrientation:
        width > height
          ? { type: "landscapePrimary", angle: mobile ? 90 : 0 }
          : { type: "portraitPrimary", angle: 0 },
    });
  };
  await Promise.all([
    setScreen(),
    session.send("Emulation.setUserAgentOverride", createIdentity(userAgent, mobile, locale)),
    session.send("Emulation.setLocaleOverride", { locale }).catch(() => {
      throw invalidRequest("The browser does not know this locale.", "locale");
    }),
    // Not every browser starts without scrollbars, and captures must not show them.
    session.send("Emulation.setScrollbarsHidden", { hidden: true }).catch(() => undefined),
  ]);
}

async function setTimezone(session: CDPSession, timezoneId: string): Promise<void> {
  await session.send("Emulation.setTimezoneOverride", { timezoneId }).catch(() => {
    throw invalidRequest("The browser does not know this time zone.", "timezone");
  });
}
