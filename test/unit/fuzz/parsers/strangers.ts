import { ADMIN_REQUESTS, CALLERS_REQUESTS, PAGE_REQUESTS, SOCKET_MESSAGES } from "../corpus/http.ts";
import { PAGES } from "../corpus/texts.ts";
import { type Target, target } from "../target.ts";
import { FuzzedGateway } from "./gateway.ts";
import { headersOf, messageIn } from "./messages.ts";

/** Inputs of a parser that take as long as one request to the whole program. */
const COST = 10;

/** The request that a text describes; null where no runtime would hand such a one over. */
function requestIn(text: string): Request | null {
  const message = messageIn(text);
  const [method = "", ...path] = message.first.split(" ");
  try {
    const url = new URL(path.join(" "), "http://gateway.test");
    if (url.origin !== "http://gateway.test") return null;
    const hasBody = method !== "GET" && method !== "HEAD" && message.body !== "";
    return new Request(url, {
      method,
      headers: headersOf(message),
      ...(hasBody ? { body: message.body } : {}),
    });
  } catch {
    return null;
  }
}

/** Whatever is asked, the program never answers that something within it went wrong. */
const requests = (name: string, corpus: readonly string[]): Target =>
  target(
    `whole requests, ${name}`,
    corpus,
    async (input) => {
      const request = requestIn(input);
      if (request === null) return;
      const page = PAGES[input.length % PAGES.length] ?? "";
      const fetch = async () => new Response(page, { headers: { "content-type": "text/html" } });
      const gateway = await FuzzedGateway.open({ fetch });
      await gateway.ask(request);
    },
    { cost: COST },
  );

/** A WebSocket answers every message with events that are JSON. */
const socketMessages = target(
  "WebSocket messages",
  SOCKET_MESSAGES,
  async (input) => {
    const sent = await FuzzedGateway.talk(input);
    for (const text of sent) JSON.parse(text);
    if (sent.length === 0) throw new Error("nothing was answered");
    if (sent.some((text) => /"status":500|internal error/.test(text))) throw new Error(sent.join("\n"));
  },
  { cost: COST },
);

export const strangersTargets: readonly Target[] = [
  requests("administration", ADMIN_REQUESTS),
  requests("callers", CALLERS_REQUESTS),
  requests("page service", PAGE_REQUESTS),
  socketMessages,
];
