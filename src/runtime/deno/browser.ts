import puppeteer, { type Browser, type ConnectionTransport } from "@cloudflare/puppeteer";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { PageBrowser } from "../../core/ports/pages.ts";
import type { PageLimits, ProcessVariables } from "../../core/variables/variables.ts";
import { BrowserService } from "../../pages/browser/browser-service.ts";
import { toGatewayError } from "../../pages/browser/failures.ts";

/**
 * Runs a browser until the script's standard input closes: a browser must not outlive the gateway, even if the gateway is
 * killed. Then it deletes the profile, once the last browser process has ended. A signal to the whole process group
 * ends `cat`, and so the browser, too. On a busy processor, pages yield to the gateway.
 */
const BROWSER_SCRIPT = `
trap "" INT
trap : TERM HUP
nice -n 5 "$BROWSER" "$@" --user-data-dir="$PROFILE" </dev/null &
browser=$!
cat >/dev/null
kill -9 "$browser"
sleep 1
rm -rf "$PROFILE"
`;

/** Time limit for starting a browser, milliseconds. */
const START_MS = 20_000;

/** Names of installed browsers that speak the DevTools protocol. */
const SYSTEM_NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "headless_shell",
];

/** Flags that reduce a browser's background traffic and its attack surface. */
const FLAGS = [
  "--headless",
  "--lang=en-US",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  // Pages must not make the browser prefetch, because no interception sees it. No switch turns that off; a size limit of 0
  // does.
  "--enable-features=NoStatePrefetchHoldback,PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0",
  "--font-render-hinting=none",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--metrics-recording-only",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  // Containers rarely allow the namespaces that the sandbox needs; the container itself isolates.
  "--no-sandbox",
  "--remote-debugging-port=0",
];

/**
 * Finds this machine's browser: only `BROWSER_EXECUTABLE` if that is set, else the one that the project has unpacked, else
 * an installed one. Null if there is none.
 */
export async function findBrowser(
  { browserExecutable, searchPath }: Pick<ProcessVariables, "browserExecutable" | "searchPath">,
  projectFolder: string,
): Promise<string | null> {
  const folders = searchPath.split(Deno.build.os === "windows" ? ";" : ":").filter(Boolean);
  const candidates = [
    `${projectFolder}/.cache/browser`,
    ...folders.flatMap((folder) => SYSTEM_NAMES.map((name) => `${folder}/${name}`)),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  for (const candidate of browserExecutable === null ? candidates : [browserExecutable]) {
    const file = await Deno.stat(candidate).catch(() => null);
    if (file?.isFile && (file.mode === null || (file.mode & 0o111) !== 0)) return candidate;
  }
  return null;
}

/** Used where there is no browser: thumbnails fail with instructions, and technology detection uses the HTML alone. */
export const UNAVAILABLE_BROWSER: PageBrowser = {
  capture: async () => Promise.reject(browserNotInstalled()),
  visit: async () => Promise.reject(browserNotInstalled()),
};

function browserNotInstalled(): GatewayError {
  return new GatewayError(
    503,
    "There is no browser on this machine. Install Chromium, or name one in BROWSER_EXECUTABLE, and start the gateway again.",
    { code: "browser_unavailable" },
  );
}

/** Browsers on this machine. They reach the network only through an egress filter. */
export class LocalBrowsers implements PageBrowser {
  readonly #executable: string;
  readonly #proxyUrl: string;
  readonly #services: readonly BrowserService[];
  readonly #running = new Set<Deno.ChildProcess>();
  readonly #keepAliveMs: number;
  #next = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param proxyUrl URL of the egress filter
   * @param blockLists the text that `scripts/build-block-lists.mjs` writes
   */
  constructor(executable: string, proxyUrl: string, limits: PageLimits, blockLists: string) {
    this.#executable = executable;
    this.#proxyUrl = proxyUrl;
    this.#keepAliveMs = limits.keepAliveMs;
    const launch = () => this.#launch();
    // The browsers have shown equally many pages. Without this shared flag all would restart at the same moment.
    const replacement = { isRunning: false };
    this.#services = Array.from(
      { length: limits.browsers },
      () => new BrowserService({ launch, limits, blockLists, replacement }),
    );
  }

  capture: PageBrowser["capture"] = (request, client, signal) =>
    this.#use((service) => service.capture(request, client, signal));

  visit: PageBrowser["visit"] = (request, client, signal) =>
    this.#use((service) => service.visit(request, client, signal));

  close(): void {
    for (const child of this.#running) endBrowser(child);
  }

  /** Runs work in the next browser, in turn. */
  async #use<T>(run: (service: BrowserService) => Promise<T>): Promise<T> {
    const service = this.#services[this.#next];
    this.#next = (this.#next + 1) % this.#services.length;
    if (service === undefined) throw browserNotInstalled();
    clearTimeout(this.#idleTimer);
    try {
      return await run(service);
    } catch (error) {
      throw toGatewayError(error);
    } finally {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = setTimeout(() => this.#closeIfIdle(), this.#keepAliveMs);
    }
  }

  /** Closes idle browsers. The next request for a page starts a new one. */
  #closeIfIdle(): void {
    if (this.#services.every(({ counts }) => counts.open === 0)) this.close();
  }

  async #launch(): Promise<Browser> {
    const profile = await Deno.makeTempDir({ prefix: "polygate-browser-" });
    const child = new Deno.Command("/bin/sh", {
      args: [
        ...["-c", BROWSER_SCRIPT, "keeper"],
        ...FLAGS,
        `--proxy-server=${this.#proxyUrl}`,
        // By default, browsers bypass the proxy for loopback addresses.
        "--proxy-bypass-list=<-loopback>",
        "about:blank",
      ],
      env: { BROWSER: this.#executable, PROFILE: profile },
      stdin: "piped",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#running.add(child);
    void child.status.then(() => this.#running.delete(child));
    try {
      const endpoint = await readDevToolsEndpoint(child);
      const transport = await connectTransport(endpoint, () => endBrowser(child));
      const browser = await puppeteer.connect({ transport });
      console.log(JSON.stringify({ at: new Date().toISOString(), browser: "started", pid: child.pid }));
      return browser;
    } catch (error) {
      endBrowser(child);
      throw error;
    }
  }
}

/** Ends a browser by closing the standard input of its script. */
function endBrowser(child: Deno.ChildProcess): void {
  // The process may have ended already.
  child.stdin.close().catch(() => undefined);
}

/**
 * Reads the DevTools endpoint from the browser's output. It keeps reading the rest: otherwise the browser would block on a
 * full pipe.
 */
async function readDevToolsEndpoint(child: Deno.ChildProcess): Promise<string> {
  const result = Promise.withResolvers<string>();
  const timer = setTimeout(() => result.reject(new Error("the browser did not start in time")), START_MS);
  const readOutput = async () => {
    let text = "";
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      text = (text + piece).slice(-4_000);
      const endpoint = /DevTools listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (endpoint !== undefined) result.resolve(endpoint);
    }
    result.reject(new Error(`the browser ended: ${text.trim().slice(-500)}`));
  };
  readOutput().catch((error: unknown) => result.reject(error));
  try {
    return await result.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** The DevTools protocol over a WebSocket. Losing the connection ends the browser. */
function connectTransport(endpoint: string, onClosed: () => void): Promise<ConnectionTransport> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(endpoint);
    const transport: ConnectionTransport = {
      send: (message) => {
        socket.send(message);
      },
      close: () => {
        socket.close();
        // A browser that hangs would not close the connection.
        onClosed();
      },
    };
    socket.onopen = () => resolve(transport);
    socket.onerror = () => reject(new Error("the browser does not answer"));
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") transport.onmessage?.(data);
    };
    socket.onclose = () => {
      transport.onclose?.();
      onClosed();
    };
  });
}
