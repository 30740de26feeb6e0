// A mock browser in the benchmark's own process. Every page loads at once. It sends the same protocol messages as Chromium,
// so that its client does all its work, but renders nothing.
import { Response, WebSocketPair } from "miniflare";

/** Number of subresources of a page. */
export const PARTS = 40;
const PICTURE_BYTES = 200_000;
/** Width and height of the picture in pixels. */
const PICTURE_SIDE = 1_200;

/** The header of a JPEG of that size, followed by incompressible bytes. */
function picture() {
  const bytes = Buffer.alloc(PICTURE_BYTES);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 2_654_435_761) >>> 24;
  Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8]).copy(bytes);
  bytes.writeUInt16BE(PICTURE_SIDE, 7);
  bytes.writeUInt16BE(PICTURE_SIDE, 9);
  return bytes.toString("base64");
}

const PICTURE = picture();
const HEADERS = Object.fromEntries(
  Array.from({ length: 15 }, (_, n) => [`x-header-${n}`, `value ${n} of an ordinary length`]),
);

/** Handles requests to the browser binding: opening a session, and connecting to it. */
export function standInBrowser(request) {
  if (request.headers.get("upgrade") !== "websocket") return Response.json({ sessionId: "stand-in" });
  const { 0: theirs, 1: ours } = new WebSocketPair();
  ours.accept();
  const chat = new Chat((message) => ours.send(JSON.stringify(message)));
  ours.addEventListener("message", ({ data }) => chat.hear(JSON.parse(data)));
  return new Response(null, { status: 101, webSocket: theirs });
}

/** One protocol connection. */
class Chat {
  #say;
  #made = 0;
  #held = 0;
  /** Actions that continue a paused request, by its id. */
  #next = new Map();
  #targets = new Map();

  constructor(say) {
    this.#say = say;
  }

  hear({ id, method, sessionId, params }) {
    const answer = (result = {}) => this.#say({ id, sessionId, result });
    switch (method) {
      case "Target.setDiscoverTargets":
        this.#say({ method: "Target.targetCreated", params: { targetInfo: info("browser", "browser") } });
        return answer();
      case "Target.attachToTarget":
        this.#attach("browser", "browser");
        return answer({ sessionId: "browser" });
      case "Target.getBrowserContexts":
        return answer({ browserContextIds: [] });
      case "Target.createBrowserContext":
        this.#made += 1;
        return answer({ browserContextId: `context${this.#made}` });
      case "Target.createTarget": {
        const page = `page of ${params.browserContextId}`;
        this.#targets.set(params.browserContextId, page);
        const targetInfo = info(page, "page", params.browserContextId);
        this.#say({ method: "Target.targetCreated", params: { targetInfo } });
        this.#attach(page, "page", params.browserContextId);
        return answer({ targetId: page });
      }
      case "Target.disposeBrowserContext": {
        const targetId = this.#targets.get(params.browserContextId);
        this.#targets.delete(params.browserContextId);
        this.#say({ method: "Target.detachedFromTarget", params: { sessionId: targetId, targetId } });
        this.#say({ method: "Target.targetDestroyed", params: { targetId } });
        return answer();
      }
      case "Browser.getVersion":
        return answer({ product: "HeadlessChrome/1", userAgent: "HeadlessChrome/1", protocolVersion: "1.3" });
      case "Page.getFrameTree":
        return answer({ frameTree: { frame: frame(sessionId, "about:blank", "none") } });
      case "Page.createIsolatedWorld":
        return answer({ executionContextId: 2 });
      case "Runtime.evaluate":
        return answer({ result: { type: "boolean", value: false } });
      case "Page.captureScreenshot":
        return answer({ data: PICTURE });
      case "Fetch.continueRequest": {
        answer();
        const next = this.#next.get(params.requestId);
        this.#next.delete(params.requestId);
        return next?.();
      }
      case "Page.navigate":
        this.#made += 1;
        answer({ frameId: sessionId, loaderId: `loader${this.#made}` });
        return this.#load(sessionId, params.url, `loader${this.#made}`);
      default:
        return answer();
    }
  }

  #attach(targetId, type, browserContextId) {
    const params = {
      sessionId: targetId,
      targetInfo: info(targetId, type, browserContextId),
      waitingForDebugger: false,
    };
    this.#say({ method: "Target.attachedToTarget", params });
  }

  #load(page, url, loaderId) {
    const tell = (method, params) => this.#say({ sessionId: page, method, params });
    const phase = (name) => tell("Page.lifecycleEvent", { frameId: page, loaderId, name, timestamp: 1 });
    let open = PARTS;
    this.#ask(page, url, "Document", loaderId, loaderId, () => {
      tell("Page.frameStartedLoading", { frameId: page });
      tell("Page.frameNavigated", { frame: frame(page, url, loaderId), type: "Navigation" });
      tell("Runtime.executionContextsCleared", {});
      const auxData = { isDefault: true, type: "default", frameId: page };
      const context = { id: 1, origin: url, name: "", uniqueId: `${loaderId}.1`, auxData };
      tell("Runtime.executionContextCreated", { context });
      for (let part = 0; part < PARTS; part += 1) {
        const type = ["Script", "Stylesheet", "Image", "Fetch"][part % 4];
        this.#ask(page, `${url}/${part}.bin`, type, `${loaderId}.${part}`, loaderId, () => {
          open -= 1;
          if (open > 0) return;
          phase("DOMContentLoaded");
          tell("Page.domContentEventFired", { timestamp: 1 });
          phase("load");
          tell("Page.loadEventFired", { timestamp: 1 });
          tell("Page.frameStoppedLoading", { frameId: page });
        });
      }
    });
  }

  /** Sends one request of a page. It continues when allowed, and calls `then` when its response has arrived. */
  #ask(page, url, type, requestId, loaderId, then) {
    const tell = (method, params) => this.#say({ sessionId: page, method, params });
    const request = {
      url,
      method: "GET",
      headers: HEADERS,
      initialPriority: "High",
      referrerPolicy: "origin",
    };
    const held = `interception${this.#held}`;
    this.#held += 1;
    this.#next.set(held, () => {
      const common = { requestId, loaderId, frameId: page, type, timestamp: 1 };
      const response = { url, status: 200, statusText: "OK", headers: HEADERS, mimeType: "text/html" };
      tell("Network.requestWillBeSent", {
        ...common,
        documentURL: url,
        request,
        initiator: { type: "other" },
      });
      tell("Network.requestWillBeSentExtraInfo", { requestId, headers: HEADERS, associatedCookies: [] });
      tell("Network.responseReceivedExtraInfo", { requestId, headers: HEADERS, statusCode: 200 });
      tell("Network.responseReceived", { ...common, response, hasExtraInfo: true });
      for (let piece = 0; piece < 2; piece += 1)
        tell("Network.dataReceived", {
          requestId,
          dataLength: 20_000,
          encodedDataLength: 9_000,
          timestamp: 1,
        });
      tell("Network.loadingFinished", { requestId, timestamp: 1, encodedDataLength: 18_000 });
      then();
    });
    const paused = { requestId: held, frameId: page, resourceType: type, request, networkId: requestId };
    this.#say({ sessionId: "browser", method: "Fetch.requestPaused", params: paused });
  }
}

const info = (targetId, type, browserContextId) => ({
  targetId,
  type,
  title: "",
  url: "about:blank",
  attached: true,
  ...(browserContextId !== undefined && { browserContextId }),
});

const frame = (id, url, loaderId) => ({ id, loaderId, url, domainAndRegistry: "", mimeType: "text/html" });
