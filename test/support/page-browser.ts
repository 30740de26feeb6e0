import { toUtf8 } from "../../src/core/encoding/bytes.ts";
import type { CaptureOutcome, CaptureRequest, VisitRequest } from "../../src/core/ports/page-browser.ts";
import type { PageSetup } from "../../src/core/ports/page-setup.ts";
import type { PageBrowser } from "../../src/core/ports/pages.ts";

/** The setup of a page that its caller does not change. */
export const PLAIN_SETUP: PageSetup = {
  html: null,
  secrets: null,
  styles: [],
  scripts: [],
  blockedTypes: [],
  failOn: { statuses: [], resources: false, consoleErrors: false },
};

/** A fake browser that records each capture and its client. */
export interface FakeBrowser extends PageBrowser {
  readonly captures: readonly (readonly [request: CaptureRequest, client: string])[];
}

/** Result of capturing an empty page. */
function outcomeOf({ url, format }: CaptureRequest): CaptureOutcome {
  return {
    kind: "picture",
    url,
    status: 200,
    incomplete: null,
    overBudget: false,
    bytes: toUtf8(`${format} of ${url}`),
    finished: true,
    plan: {
      clip: { x: 0, y: 0, width: 320, height: 240 },
      scale: 1,
      output: { width: 320, height: 240 },
      exact: true,
    },
    cutAt: null,
    cutWidthAt: null,
  };
}

/** `capture` may delay or fail a request. */
export function fakeBrowser(
  capture: (request: CaptureRequest) => Promise<void> = async () => {},
): FakeBrowser {
  const captures: (readonly [CaptureRequest, string])[] = [];
  return {
    captures,
    capture: async (request, client) => {
      captures.push([request, client]);
      await capture(request);
      return outcomeOf(request);
    },
    visit: async ({ url }: VisitRequest) => {
      throw new Error(`nobody visits ${url}`);
    },
  };
}
