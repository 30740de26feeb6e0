/** Globals of pages and workers whose traffic request interception does not see, and globals for devices. */
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
  "PublicKeyCredential",
  "IdentityCredential",
  "IdentityProvider",
  "DigitalCredential",
  "SharedStorage",
  "sharedStorage",
  "FencedFrameConfig",
  "TCPSocket",
  "UDPSocket",
  "NetworkInformation",
];

/** Members of `navigator` that register workers, request permissions or access devices. */
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
  "updateAdInterestGroups",
  "install",
  "login",
];

/**
 * Runs in every page, frame and worker before their own code. It is a string because bundlers wrap functions in helpers
 * that pages do not have. It replaces `WebSocket` with a version that never opens, because pages use `WebSocket`
 * without checking that it exists.
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
  // The gateway does not read console output, and a page that writes without end would block the browser for other pages.
  for (const name in scope.console) {
    if (typeof scope.console[name] === "function" && name !== "createTask") scope.console[name] = () => undefined;
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
    // Speculation rules make the browser itself load pages, past all interception. They are removed before the browser reads
    // them. A page can replace built-in functions, so this script keeps its own references to them.
    const { bind, call } = Function.prototype;
    const free = bind.bind(call);
    const getter = (of, name) => free(Object.getOwnPropertyDescriptor(of.prototype, name).get);
    const find = free(Element.prototype.querySelectorAll);
    const findIn = free(DocumentFragment.prototype.querySelectorAll);
    const matches = free(Element.prototype.matches);
    const readAttribute = free(Element.prototype.getAttribute);
    const writeAttribute = free(Element.prototype.setAttribute);
    const remove = free(Element.prototype.remove);
    const lowerCase = free(String.prototype.toLowerCase);
    const contains = free(String.prototype.includes);
    const observe = free(MutationObserver.prototype.observe);
    const Observer = MutationObserver;
    const addedNodes = getter(MutationRecord, "addedNodes");
    const typeOf = getter(Node, "nodeType");
    const lengthOf = getter(NodeList, "length");
    const disable = (script) => {
      if (!contains(lowerCase(readAttribute(script, "type") ?? ""), "speculationrules")) return;
      writeAttribute(script, "type", "text/plain");
      remove(script);
    };
    const disableAll = (scripts) => {
      for (let index = lengthOf(scripts) - 1; index >= 0; index--) disable(scripts[index]);
    };
    const checkNode = (node) => {
      const type = typeOf(node);
      if (type === 11) disableAll(findIn(node, "script"));
      if (type !== 1) return;
      if (matches(node, "script")) disable(node);
      disableAll(find(node, "script"));
    };
    const options = { childList: true, subtree: true, __proto__: null };
    const watch = (root) => {
      const observer = new Observer((records) => {
        for (let index = 0; index < records.length; index++) {
          const nodes = addedNodes(records[index]);
          for (let at = lengthOf(nodes) - 1; at >= 0; at--) checkNode(nodes[at]);
        }
      });
      observe(observer, root, options);
      return root;
    };
    watch(document);
    const attachShadow = free(Element.prototype.attachShadow);
    Element.prototype.attachShadow = function (options) {
      return watch(attachShadow(this, options));
    };
  }
})(${JSON.stringify(REMOVED)}, ${JSON.stringify(REMOVED_FROM_NAVIGATOR)});`;
