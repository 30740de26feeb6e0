/** Globals of pages and workers whose traffic no request interception sees, and those that reach for devices. */
const REMOVED = [
  "WebSocketStream",
  "WebTransport",
  "RTCPeerConnection",
  "webkitRTCPeerConnection",
  "RTCDataChannel",
  "RTCIceTransport",
  "SharedWorker",
  "PresentationRequest",
  "PaymentRequest",
  "TCPSocket",
  "UDPSocket",
  "NetworkInformation",
];

/** Members of `navigator` that register workers, ask for permissions or reach for devices. */
const REMOVED_FROM_NAVIGATOR = [
  "serviceWorker",
  "bluetooth",
  "usb",
  "serial",
  "hid",
  "mediaDevices",
  "getUserMedia",
  "webkitGetUserMedia",
  "requestMIDIAccess",
  "registerProtocolHandler",
  "credentials",
  "geolocation",
  "share",
  "joinAdInterestGroup",
  "runAdAuction",
];

/**
 * Runs in every page, frame and worker before any of their own code. It is a text, because bundlers wrap functions in helpers that pages do
 * not have. A `WebSocket` that is never opened stays behind, because pages make one without asking whether there is such a thing.
 */
export const HARDENING_SCRIPT = `((removed, removedFromNavigator) => {
  "use strict";
  const scope = globalThis;
  const fix = (name, value) => {
    try {
      Object.defineProperty(scope, name, { value, writable: false, configurable: false, enumerable: false });
    } catch {}
  };
  for (const name of removed) {
    try { delete scope[name]; } catch {}
  }
  for (const name of removedFromNavigator) {
    try { delete Object.getPrototypeOf(scope.navigator)[name]; } catch {}
  }
  if ("WebSocket" in scope) {
    const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
    class WebSocket extends EventTarget {
      constructor(url) {
        super();
        Object.assign(this, { url: String(url), protocol: "", extensions: "", bufferedAmount: 0, readyState: 0, binaryType: "blob" });
        Object.assign(this, { onopen: null, onmessage: null, onerror: null, onclose: null });
      }
      send() {}
      close() { this.readyState = 3; }
    }
    Object.assign(WebSocket, states);
    Object.assign(WebSocket.prototype, states);
    fix("WebSocket", WebSocket);
  }
  if ("document" in scope) {
    fix("open", () => null);
    fix("print", () => undefined);
    fix("alert", () => undefined);
    fix("confirm", () => false);
    fix("prompt", () => null);
    // Speculation rules make the browser itself load pages, past all interception. Taken out at the first opportunity, which comes before the
    // browser looks at them, they start nothing.
    const tame = (node) => {
      if (node.nodeType !== 1) return;
      const scripts = node.localName === "script" ? [node] : node.getElementsByTagName("script");
      for (const script of [...scripts]) {
        if (!/^speculationrules$/i.test(script.type)) continue;
        script.type = "text/plain";
        script.remove();
      }
    };
    const watch = (root) => {
      const observer = new MutationObserver((records) => {
        for (const { addedNodes } of records) for (const node of addedNodes) tame(node);
      });
      observer.observe(root, { childList: true, subtree: true });
      return root;
    };
    watch(document);
    const { attachShadow } = Element.prototype;
    Element.prototype.attachShadow = function (options) {
      return watch(attachShadow.call(this, options));
    };
  }
})(${JSON.stringify(REMOVED)}, ${JSON.stringify(REMOVED_FROM_NAVIGATOR)});`;
