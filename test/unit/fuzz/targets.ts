import ipaddr from "ipaddr.js";
import { GatewayError } from "../../../src/core/errors/gateway-error.ts";
import { ProviderError } from "../../../src/core/errors/provider-error.ts";
import { JsonScan } from "../../../src/core/http/json-scan.ts";
import type { OutboundProxy } from "../../../src/core/ports/upstream.ts";
import { checkPageUrl } from "../../../src/core/url-safety/page-url.ts";
import { readFormFile } from "../../../src/gateway/files/form-file.ts";
import { readRelatedFile } from "../../../src/gateway/files/related-file.ts";
import type { IncomingFile } from "../../../src/gateway/files/upload.ts";
import type { ProviderEvent } from "../../../src/gateway/providers/answers/provider-events.ts";
import type { TurnDecoder } from "../../../src/gateway/providers/answers/upstream-turn.ts";
import { MessageStreamDecoder } from "../../../src/gateway/providers/anthropic/decoder.ts";
import { ContentStreamDecoder } from "../../../src/gateway/providers/gemini/decoder.ts";
import { CompletionStreamDecoder } from "../../../src/gateway/providers/openai/decoder.ts";
import { ResponseStreamDecoder } from "../../../src/gateway/providers/openai-responses/decoder.ts";
import { SessionTurnDecoder } from "../../../src/gateway/providers/sessions/decoder.ts";
import { proxiedFetch } from "../../../src/gateway/upstream/proxy/proxied-fetch.ts";
import { signalsFromHtml } from "../../../src/pages/technologies/html-signals.ts";
import { PARSERS, PROMPTS } from "../../support/dialect-parsers.ts";
import { REQUESTS } from "./corpus/requests.ts";
import { FORMS, JSON_TEXTS, PAGES, REPLIES, STREAMS, URLS } from "./corpus/texts.ts";
import { answersTargets } from "./parsers/answers.ts";
import { credentialTargets } from "./parsers/credentials.ts";
import { pagesTargets } from "./parsers/pages.ts";
import { strangersTargets } from "./parsers/strangers.ts";
import { upstreamTargets } from "./parsers/upstreams.ts";
import { storeTargets } from "./stores/index.ts";
import { bytesOf, cut, only, saying, type Target, target } from "./target.ts";

const MAX_DEPTH = 512;

function depthOf(value: unknown): number {
  let deepest = 0;
  const open: [unknown, number][] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [one, depth] = next;
    if (typeof one !== "object" || one === null) continue;
    deepest = Math.max(deepest, depth + 1);
    for (const member of Object.values(one)) open.push([member, depth + 1]);
  }
  return deepest;
}

/** The scan before `JSON.parse` knows how deep a text nests, and does not depend on how it is cut. */
const jsonGuard = target("JSON guard", JSON_TEXTS, (input) => {
  const bytes = Uint8Array.from(new TextEncoder().encode(input));
  const whole = new JsonScan(MAX_DEPTH);
  whole.push(bytes);
  const pieces = new JsonScan(MAX_DEPTH);
  for (const piece of cut(bytes)) pieces.push(piece);
  if (whole.tooDeep !== pieces.tooDeep || whole.cost !== pieces.cost) throw new Error("it depends on cuts");
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    return;
  }
  if (whole.tooDeep !== depthOf(value) > MAX_DEPTH) throw new Error(`tooDeep is ${whole.tooDeep}`);
});

/** A request is understood, or refused with the reason; what is understood can be put to every provider. */
const requests = Object.entries(PARSERS).map(([dialect, parse]) =>
  target(`requests, ${dialect}`, REQUESTS[dialect] ?? ["{}"], async (input) => {
    let body: unknown;
    try {
      body = JSON.parse(input);
    } catch {
      return;
    }
    const conversation = await only([GatewayError], () => parse(body));
    if (conversation === undefined) return;
    for (const prompt of Object.values(PROMPTS)) {
      const text = await only([GatewayError], () => prompt(conversation));
      if (text !== undefined && typeof text !== "string") throw new Error("no prompt");
    }
    if (Object.hasOwn(Object.prototype, "polluted")) throw new Error("the prototype was polluted");
  }),
);

/** What comes of a stream: its events, texts joined, and how it ended. */
function decoded(decoder: TurnDecoder, reads: readonly Uint8Array[]): string {
  const events: ProviderEvent[] = [];
  let end = "ended";
  try {
    for (const read of reads) events.push(...decoder.push(read));
    if (decoder.failure) throw decoder.failure;
    events.push(...decoder.finish());
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    end = error.kind;
  }
  return JSON.stringify([events, end]);
}

const context = () => {
  let made = 0;
  return { secret: "a-secret-token", newId: () => `id${made++}` };
};

const DECODERS: Readonly<Record<string, () => TurnDecoder>> = {
  sessions: () => new SessionTurnDecoder("a-secret-token"),
  openai: () => new CompletionStreamDecoder(context()),
  "openai-responses": () => new ResponseStreamDecoder(context()),
  anthropic: () => new MessageStreamDecoder(context()),
  gemini: () => new ContentStreamDecoder(context()),
};

/** A stream gives the same events however it is cut, and fails with nothing but the provider's error. */
const streams = Object.entries(DECODERS).map(([driver, make]) =>
  target(`event stream, ${driver}`, STREAMS[driver] ?? [""], (input) => {
    const bytes = bytesOf(input);
    const whole = decoded(make(), [bytes]);
    const pieces = decoded(make(), cut(bytes));
    if (whole !== pieces) throw new Error(`whole ${whole}\n in pieces ${pieces}`);
  }),
);

/** A file in a multipart body of this type is read, or refused with the reason. */
function multipart(name: string, type: string, fileIn: (request: Request) => IncomingFile): Target {
  return target(name, FORMS, (input) => {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const piece of cut(bytesOf(input))) controller.enqueue(piece);
        controller.close();
      },
    });
    const init = {
      method: "POST",
      headers: { "content-type": `${type}; boundary=boundary` },
      body,
      duplex: "half" as const,
    };
    return only([GatewayError], async () => {
      const file = fileIn(new Request("http://gateway.example/v1/files", init));
      await file.head();
      await new Response(file.content).arrayBuffer();
    }).then(() => undefined);
  });
}

const UPLOAD_LIMITS = { bytes: 1 << 20, idleMs: 1_000 };
const forms = multipart("multipart", "multipart/form-data", (request) =>
  readFormFile(request, UPLOAD_LIMITS),
);
const related = multipart("multipart/related", "multipart/related", (request) =>
  readRelatedFile(request, UPLOAD_LIMITS, (_, mediaType) => ({ filename: "file", mediaType })),
);

/** A page is read, however broken. */
const pages = target("HTML signals", PAGES, (input) => {
  const signals = signalsFromHtml({ html: input, headers: new Headers(), url: "https://example.com/" });
  for (const address of [...(signals.scriptSrc ?? []), ...signals.stylesheets]) new URL(address);
});

/** A proxy's reply is an answer, or a failure that names its stage. */
const replies = (["http", "socks5"] as const).map((type) =>
  target(`replies of a proxy, ${type}`, REPLIES[type] ?? [], async (input) => {
    const proxy: OutboundProxy = { type, host: "proxy", port: 1, username: "u", password: "p" };
    const fetch = proxiedFetch(() => saying(cut(bytesOf(input))), proxy);
    await only([ProviderError, TypeError], async () => {
      const response = await fetch("http://target.example/");
      await response.arrayBuffer();
    });
  }),
);

/** Whether a host is an address that is not public, by another reading than the program's own. */
function isPrivate(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (!ipaddr.isValid(bare)) return /(?:^|\.)localhost$/.test(bare);
  return ipaddr.process(bare).range() !== "unicast";
}

/** What may be loaded for strangers is no address of this machine or its network. */
const urls = target("URL safety", URLS, (input) => {
  const check = checkPageUrl(input, { privateHosts: new Set() });
  if (!check.ok) return;
  const { protocol, hostname, username, password } = check.url;
  if (!/^https?:$/.test(protocol) || username + password !== "") throw new Error(check.url.href);
  if (isPrivate(hostname)) throw new Error(`${hostname} is private`);
});

/** Every parser that meets strangers or upstreams, but the tool scanner, which has properties of its own; and every store. */
export const targets: readonly Target[] = [
  jsonGuard,
  ...requests,
  ...streams,
  forms,
  related,
  pages,
  ...replies,
  urls,
  ...answersTargets,
  ...pagesTargets,
  ...credentialTargets,
  ...strangersTargets,
  ...upstreamTargets,
  ...storeTargets,
];
