import puppeteer, { type Browser, type ConnectionTransport } from "@cloudflare/puppeteer";
import { GatewayError } from "../../errors/gateway-error.ts";
import { fromAnswer, toAnswer } from "../../pages/browser/failures.ts";
import { BrowserService } from "../../pages/browser/service.ts";
import type { PageBrowser } from "../pages.ts";
import type { PageLimits, ProcessVariables } from "../variables.ts";
import { favourShortPages } from "./renderer-priority.ts";

/**
 * Runs a browser for as long as somebody holds the other end of the script's input: a browser must not outlive the
 * gateway, however suddenly that ends. The profile goes with it, once the last of its processes has noticed.
 */
const KEEPER = `
trap "" INT
"$BROWSER" "$@" --user-data-dir="$PROFILE" </dev/null &
browser=$!
cat >/dev/null
kill -9 "$browser"
sleep 1
rm -rf "$PROFILE"
`;

/** How long a browser may take to start, milliseconds. */
const START_MS = 20_000;

/** Names under which systems install a browser that speaks the DevTools protocol. */
const SYSTEM_NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "headless_shell",
];

/** Flags that keep a browser quiet and locked down. */
const FLAGS = [
  "--headless",
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
  // Pages may not have the browser load others ahead, which no interception sees. There is no switch for that; this leaves no room for any.
  "--enable-features=NoStatePrefetchHoldback,PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0",
  "--font-render-hinting=none",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--metrics-recording-only",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  // Containers rarely allow the namespaces that the sandbox needs; a container is one itself.
  "--no-sandbox",
  "--remote-debugging-port=0",
];

/**
 * The browser of this machine: the one that `BROWSER_EXECUTABLE` names and no other, or the one that the project has
 * unpacked, or an installed one. Null when there is none.
 */
export async function findBrowser(
  { browserExecutable, searchPath }: Pick<ProcessVariables, "browserExecutable" | "searchPath">,
  projectFolder: string,
): Promise<string | null> {
  const folders = searchPath.split(Deno.build.os === "windows" ? ";" : ":").filter(Boolean);
  const found = [
    `${projectFolder}/.cache/browser`,
    ...folders.flatMap((folder) => SYSTEM_NAMES.map((name) => `${folder}/${name}`)),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  for (const candidate of browserExecutable === null ? found : [browserExecutable]) {
    const file = await Deno.stat(candidate).catch(() => null);
    if (file?.isFile && (file.mode === null || (file.mode & 0o111) !== 0)) return candidate;
  }
  return null;
}

/** Stands where there is no browser: thumbnails say what to do, and technologies go by the HTML alone. */
export const NO_BROWSER: PageBrowser = {
  capture: async () => Promise.reject(noBrowser()),
  visit: async () => Promise.reject(noBrowser()),
};

function noBrowser(): GatewayError {
  return new GatewayError(
    503,
    "There is no browser on this machine. Install Chromium, or name one in BROWSER_EXECUTABLE, and start the gateway again.",
    { code: "browser_unavailable" },
  );
}

/** Browsers that run on this machine, and that reach the network through a filter only. */
export class LocalBrowsers implements PageBrowser {
  readonly #executable: string;
  readonly #egress: string;
  readonly #services: readonly BrowserService[];
  readonly #running = new Set<Deno.ChildProcess>();
  readonly #keepAliveMs: number;
  #next = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** `egress` is the filter's URL; `blockLists` the text that `scripts/build-block-lists.mjs` writes. */
  constructor(executable: string, egress: string, limits: PageLimits, blockLists: string) {
    this.#executable = executable;
    this.#egress = egress;
    this.#keepAliveMs = limits.keepAliveMs;
    const launch = () => this.#launch();
    // They have shown equally many pages, and would all be renewed at the same moment.
    const renewals = { underWay: false };
    this.#services = Array.from(
      { length: limits.browsers },
      () => new BrowserService({ launch, limits, blockLists, renewals }),
    );
  }

  capture: PageBrowser["capture"] = (request, client) =>
    this.#use((service) => service.capture(request, client));

  visit: PageBrowser["visit"] = (request, client) => this.#use((service) => service.visit(request, client));

  /** Ends all browsers. */
  close(): void {
    for (const child of this.#running) end(child);
  }

  async #use<T>(work: (service: BrowserService) => Promise<T>): Promise<T> {
    const service = this.#services[this.#next];
    this.#next = (this.#next + 1) % this.#services.length;
    if (service === undefined) throw noBrowser();
    clearTimeout(this.#idle);
    try {
      return fromAnswer(await toAnswer(work(service)));
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.#rest(), this.#keepAliveMs);
    }
  }

  /** Nobody has asked for a page for a while: the next one starts a browser anew. */
  #rest(): void {
    if (this.#services.every(({ counts }) => counts.open === 0)) this.close();
  }

  async #launch(): Promise<Browser> {
    const profile = await Deno.makeTempDir({ prefix: "polygate-browser-" });
    const child = new Deno.Command("/bin/sh", {
      args: [
        ...["-c", KEEPER, "keeper"],
        ...FLAGS,
        `--proxy-server=${this.#egress}`,
        // Browsers go round a proxy to their own machine unless told not to.
        "--proxy-bypass-list=<-loopback>",
        "about:blank",
      ],
      env: { BROWSER: this.#executable, PROFILE: profile },
      stdin: "piped",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#running.add(child);
    const stop = favourShortPages(child.pid, () => this.#services.some(({ counts }) => counts.open > 0));
    void child.status.then(() => {
      stop();
      this.#running.delete(child);
    });
    try {
      const endpoint = await devToolsEndpoint(child);
      const transport = await socketTransport(endpoint, () => end(child));
      const browser = await puppeteer.connect({ transport });
      console.log(JSON.stringify({ at: new Date().toISOString(), browser: "started", pid: child.pid }));
      return browser;
    } catch (error) {
      end(child);
      throw error;
    }
  }
}

/** Ends a browser, by letting go of it. */
function end(child: Deno.ChildProcess): void {
  // It may have ended already.
  child.stdin.close().catch(() => undefined);
}

/** What a browser prints when it listens; the rest of what it prints is thrown away, or it would wait for a reader. */
async function devToolsEndpoint(child: Deno.ChildProcess): Promise<string> {
  const found = Promise.withResolvers<string>();
  const timer = setTimeout(() => found.reject(new Error("the browser did not start in time")), START_MS);
  const read = async () => {
    let text = "";
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      text = (text + piece).slice(-4_000);
      const endpoint = /DevTools listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (endpoint !== undefined) found.resolve(endpoint);
    }
    found.reject(new Error(`the browser ended: ${text.trim().slice(-500)}`));
  };
  read().catch((error: unknown) => found.reject(error));
  try {
    return await found.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** The DevTools protocol over a WebSocket. A browser that nobody is connected to any more is ended. */
function socketTransport(endpoint: string, ended: () => void): Promise<ConnectionTransport> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(endpoint);
    const transport: ConnectionTransport = {
      send: (message) => {
        socket.send(message);
      },
      close: () => {
        socket.close();
        // One that hangs would never agree to the end.
        ended();
      },
    };
    socket.onopen = () => resolve(transport);
    socket.onerror = () => reject(new Error("the browser does not answer"));
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") transport.onmessage?.(data);
    };
    socket.onclose = () => {
      transport.onclose?.();
      ended();
    };
  });
}
