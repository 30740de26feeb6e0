import type { Protocol } from "devtools-protocol";

/** How a browser presents itself to pages. */
export type BrowserIdentity = Required<
  Pick<Protocol.Emulation.SetUserAgentOverrideRequest, "userAgent" | "acceptLanguage" | "platform">
> &
  Pick<Protocol.Emulation.SetUserAgentOverrideRequest, "userAgentMetadata">;

/** The language of the browser unless the caller names another. */
export const DEFAULT_LOCALE = "en-US";

/**
 * The identity that belongs to a user agent: its platform, and client hints if it is a browser that sends them. Without
 * client hints, the ones of the browser itself would contradict it.
 *
 * @param isMobile whether the emulated device is a phone or tablet
 * @param locale language tag
 */
export function createIdentity(userAgent: string, isMobile: boolean, locale: string): BrowserIdentity {
  const system = findSystem(userAgent);
  const acceptLanguage = locale === DEFAULT_LOCALE ? "en-US,en" : locale;
  const identity = { userAgent, acceptLanguage, platform: system.platform };
  const fullVersion = /\bChrome\/([\d.]{1,30})/.exec(userAgent)?.[1];
  if (fullVersion === undefined || /\b(?:Edge?|OPR)\//.test(userAgent)) return identity;
  const brands = (version: string) => [
    { brand: "Chromium", version },
    { brand: "Not.A/Brand", version: version.includes(".") ? "99.0.0.0" : "99" },
  ];
  return {
    ...identity,
    userAgentMetadata: {
      brands: brands(fullVersion.split(".")[0] ?? ""),
      fullVersionList: brands(fullVersion),
      fullVersion,
      platform: system.hint,
      platformVersion: system.version,
      architecture: isMobile ? "" : system.hint === "macOS" ? "arm" : "x86",
      bitness: isMobile ? "" : "64",
      model: isMobile ? readModel(userAgent) : "",
      mobile: isMobile,
    },
  };
}

/** An operating system as pages see it: in `navigator.platform`, and in client hints. */
interface System {
  readonly platform: string;
  readonly hint: string;
  readonly version: string;
}

function findSystem(userAgent: string): System {
  const android = /\bAndroid (\d{1,3})/.exec(userAgent)?.[1];
  if (android !== undefined || /\bAndroid\b/.test(userAgent))
    return { platform: "Linux armv81", hint: "Android", version: `${android ?? "10"}.0.0` };
  const apple = /\b(iPhone|iPad|iPod)\b/.exec(userAgent)?.[1];
  if (apple !== undefined) return { platform: apple, hint: "iOS", version: "" };
  if (/\bMacintosh\b/.test(userAgent)) return { platform: "MacIntel", hint: "macOS", version: "" };
  if (/\bWindows NT\b/.test(userAgent)) return { platform: "Win32", hint: "Windows", version: "10.0.0" };
  if (/\bCrOS\b/.test(userAgent)) return { platform: "Linux x86_64", hint: "Chrome OS", version: "" };
  return { platform: "Linux x86_64", hint: "Linux", version: "" };
}

/** The device's model in an Android user agent; empty for the reduced one, which says `K`. */
function readModel(userAgent: string): string {
  const described = /\bAndroid [\d.]{1,12}; ([^;)]{1,60})/.exec(userAgent)?.[1] ?? "";
  const [model = ""] = described.split(" Build/");
  return model === "K" ? "" : model;
}
