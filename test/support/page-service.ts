import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { root } from "../../scripts/development.mjs";
import { handleRequest } from "../../src/app.ts";
import { parseVariables } from "../../src/core/variables/parse-variables.ts";
import { BrowserService } from "../../src/pages/browser/browser-service.ts";
import { ImageConverter } from "../../src/pages/images/image-converter.ts";
import { launchChromium, type TestBrowser } from "./chromium.ts";
import { compileCodecs } from "./image-codecs.ts";
import { type LocalServer, type RequestHandler, serve } from "./local-server.ts";
import { KEY, memoryPlatform } from "./memory-platform.ts";

/** The page service in this process, with a real browser and a site that it may load. */
export interface PageService {
  readonly site: LocalServer;
  /** The site by another name, which is another origin. */
  readonly otherOrigin: string;
  /** Asks an operation for a page of the site. */
  ask(operation: string, path: string, query?: Readonly<Record<string, string>>): Promise<Response>;
  /** Posts JSON to an operation, with a key. */
  post(operation: string, body: object): Promise<Response>;
}

const DATA = join(root, "dist");

/**
 * Provides the page service to the tests of a file: the whole program in this process, without a runtime and a network
 * around it.
 */
export function usePageService(
  handler: RequestHandler,
  env: Readonly<Record<string, string>> = {},
): PageService {
  const browsers: TestBrowser[] = [];
  const work: Promise<unknown>[] = [];
  let site: LocalServer | undefined;
  let send: (path: string, init?: RequestInit) => Promise<Response>;

  const getSite = () => {
    if (site === undefined) throw new Error("The site is not served yet.");
    return site;
  };
  const otherName = (text: string) => text.replace("127.0.0.1", "localhost");

  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    site = await serve(handler);
    const variables = {
      PAGE_PRIVATE_HOSTS: [site.host, otherName(site.host)].join(),
      PAGE_RATE_LIMIT: "1000000",
      DNS_OVER_HTTPS_URL: "off",
      ...env,
    };
    const { pages: limits } = parseVariables(variables, { drivers: ["sessions"] });
    const launch = async () => {
      const started = await launchChromium();
      browsers.push(started);
      return started.browser;
    };
    const blockLists = readFileSync(join(DATA, "block-lists.txt"), { encoding: "utf8" });
    const platform = await memoryPlatform({
      env: variables,
      pages: {
        browser: new BrowserService({ launch, limits, blockLists }),
        loadImageConversion: async () => new ImageConverter(compileCodecs()),
        loadFingerprints: async () =>
          readFileSync(join(DATA, "assets/data/technologies.json"), { encoding: "utf8" }),
      },
    });
    send = (path, init) =>
      handleRequest(new Request(`http://gateway.test${path}`, init), {
        platform,
        waitUntil: (behind) => {
          work.push(behind.catch(() => undefined));
        },
        clientAddress: "192.0.2.1",
      });
  });

  afterAll(async () => {
    await Promise.all(work);
    await Promise.all(browsers.map((browser) => browser.close()));
    await site?.close();
    vi.restoreAllMocks();
  });

  return {
    get site() {
      return getSite();
    },
    get otherOrigin() {
      return otherName(getSite().origin);
    },
    ask: (operation, path, query = {}) =>
      send(`/v1/${operation}?${new URLSearchParams({ url: getSite().origin + path, ...query })}`),
    post: (operation, body) =>
      send(`/v1/${operation}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        body: JSON.stringify(body),
      }),
  };
}
