import { expect, it } from "vitest";
import { createIdentity } from "../../../../../src/pages/browser/tab/identity.ts";

const CHROME = "(KHTML, like Gecko) Chrome/153.0.1.2";

it("presents one browser: what its user agent, platform, languages and client hints say agree", () => {
  const desktop = createIdentity(
    `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 ${CHROME} Safari/537.36`,
    false,
    "en-US",
  );
  expect(desktop).toMatchObject({
    acceptLanguage: "en-US,en",
    platform: "Linux x86_64",
    userAgentMetadata: {
      brands: [{ brand: "Chromium", version: "153" }, { version: "99" }],
      fullVersionList: [{ version: "153.0.1.2" }, {}],
      platform: "Linux",
      mobile: false,
      architecture: "x86",
    },
  });
  const phone = createIdentity(
    `Mozilla/5.0 (Linux; Android 13; Pixel 7 Build/X) ${CHROME} Mobile Safari/537.36`,
    true,
    "de-CH",
  );
  expect(phone).toMatchObject({
    acceptLanguage: "de-CH",
    platform: "Linux armv81",
    userAgentMetadata: {
      platform: "Android",
      platformVersion: "13.0.0",
      model: "Pixel 7",
      mobile: true,
      architecture: "",
    },
  });
});

it.each([
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) AppleWebKit/605.1.15 Version/16.0 Mobile/15E148 Safari/604.1",
    "iPhone",
  ],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:120.0) Gecko/20100101 Firefox/120.0", "Win32"],
  ["Examiner/1.0", "Linux x86_64"],
])("gives no client hints to a browser that sends none: %s", (userAgent, platform) => {
  const identity = createIdentity(userAgent, false, "en-US");
  expect(identity).toMatchObject({ userAgent, platform });
  expect(identity).not.toHaveProperty("userAgentMetadata");
});
