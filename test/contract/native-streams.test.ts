import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { ON_DENO } from "../support/runtime.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/**
 * What callers may rely on while a provider's own bytes reach them. Nothing in these streams is changed after the first content: so
 * on Workers the runtime passes them on by itself where the provider's settings allow it.
 */

/** How the provider answers the next request. */
type Script = (response: ServerResponse, events: Protocol) => Promise<void> | void;

interface Protocol {
  readonly path: string;
  /** The path of the provider that may be piped, before {@link path}. Empty: the provider that may not. */
  readonly folder: string;
  readonly body: object;
  /** The events before the first text. */
  readonly opening: string;
  readonly text: (text: string) => string;
  /** The events after the last text. */
  readonly closing: string;
  readonly error: (message: string) => string;
  /** An event, which is no error event, with which the provider gives its answer up. Null: the protocol has none. */
  readonly abandonment: string | null;
  /** The keep-alive of the style. */
  readonly keepAlive: RegExp;
}

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

const messages = [{ role: "user", content: "Hello?" }];
/** A provider of chat completions. Its events name the model as the caller does. */
function chatOf(model: string, folder: string): Protocol {
  const chunk = (more: object) => `data: ${JSON.stringify({ id: "c", model, ...more })}\n\n`;
  const delta = (fields: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, finish_reason }] });
  return {
    path: "/v1/chat/completions",
    folder,
    body: { model, stream: true, stream_options: { include_usage: true }, messages },
    opening: delta({ role: "assistant", content: "" }),
    text: (content) => delta({ content }),
    closing:
      delta({}, "stop") +
      chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }) +
      "data: [DONE]\n\n",
    error: (message) => `data: ${JSON.stringify({ error: { message, type: "server_error", own: 1 } })}\n\n`,
    abandonment: delta({}, "abort"),
    keepAlive: /^: /m,
  };
}

/** A provider of messages. The first event names the model. */
function messagesOf(provider: string, folder: string): Protocol {
  return {
    path: "/v1/messages",
    folder,
    body: { model: `${provider}/claude-9`, stream: true, max_tokens: 100, messages },
    opening:
      event("message_start", {
        message: {
          ...{ id: "m", type: "message", role: "assistant", model: "claude-9", content: [] },
          usage: { input_tokens: 7, output_tokens: 1 },
        },
      }) + event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    text: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    closing:
      event("content_block_stop", { index: 0 }) +
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }) +
      event("message_stop"),
    error: (message) => event("error", { error: { type: "api_error", message, own: 1 } }),
    abandonment: null,
    keepAlive: /^event: ping$/m,
  };
}

const PIPED_FOLDER = "/piped";
const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  "chat completions": chatOf("provider-v4-flash", ""),
  "chat completions, which may be piped": chatOf("piped-chat/m", PIPED_FOLDER),
  messages: messagesOf("vendor", ""),
  "messages, which may be piped": messagesOf("piped-vendor", PIPED_FOLDER),
};

const IDLE_MS = 3_000;
const KEEP_ALIVE_MS = 1_500;
const TOKEN = "credential-of-the-account-4711";
const MAY_BE_PIPED = { token: TOKEN, pipe_streams: true };
/** More than the sockets of three processes hold. */
const HUGE_BYTES = 120 * 1024 * 1024;
const HELD_BACK_BYTES = 40 * 1024 * 1024;

let script: Script = () => undefined;
/** Answers that the provider has not ended and whose connection is open. */
let open = 0;

const upstream = await serve((request, response) => {
  request.resume().on("end", () => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    const protocol = Object.values(PROTOCOLS).find(({ folder, path }) =>
      request.url?.startsWith(folder + path),
    );
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (protocol !== undefined) void script(response, protocol);
  });
});
const url = upstream.origin;
const running = useAdmin({
  vars: {
    PROVIDER_DRIVER: "openai",
    PROVIDER_BASE_URL: `${url}/v1`,
    IDLE_TIMEOUT_MS: String(IDLE_MS),
    KEEP_ALIVE_MS: String(KEEP_ALIVE_MS),
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: ["sk-dev"],
      accounts: [{ token: TOKEN }],
      providers: [
        { id: "vendor", driver: "anthropic", base_url: url, token: TOKEN },
        { ...MAY_BE_PIPED, id: "piped-vendor", driver: "anthropic", base_url: url + PIPED_FOLDER },
        { ...MAY_BE_PIPED, id: "piped-chat", driver: "openai", base_url: `${url}${PIPED_FOLDER}/v1` },
      ],
      runtime: { account_max_inflight: 20 },
    }),
  },
});

afterAll(() => upstream.close());

/** A write that waits for the network. False: the connection is closed. */
async function write(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed) return false;
  if (!response.write(text)) await Promise.race([once(response, "drain"), once(response, "close")]);
  return !response.destroyed;
}

/** Writes so many texts, one every 20 ms. */
async function speak(response: ServerResponse, { opening, text }: Protocol, texts: number): Promise<void> {
  await write(response, opening);
  for (let index = 0; index < texts; index += 1) {
    await write(response, text(`${index} `));
    await sleep(20);
  }
}

const spoken = (texts: number) => Array.from({ length: texts }, (_, index) => `${index} `).join("");

const lastRecord = async () => {
  const { items } = (await running.admin("GET", "/admin/chat-history")).body;
  return Array.isArray(items) ? Object(items[0]) : {};
};
/** The record of the request, once it has ended. */
const finalRecord = () => until(lastRecord, ({ status }) => status !== undefined && status !== "streaming");
const inUse = async () => (await running.admin("GET", "/admin/queue/status")).body["in_use"];

/** The events of a stream, without those that another provider's name of the model tells apart. */
const eventsOf = (text: string) => text.split("\n\n").filter((each) => each !== "");

/** Only workerd pipes: on Deno these settings change nothing. */
const STYLES = Object.keys(PROTOCOLS).filter(
  (style) => !(ON_DENO && PROTOCOLS[style]?.folder === PIPED_FOLDER),
);

describe.each(STYLES)("a native stream of %s", (style) => {
  const protocol = PROTOCOLS[style];
  if (protocol === undefined) throw new Error("there is no such protocol");
  const isPiped = protocol.folder === PIPED_FOLDER;
  const ask = () => running.post(protocol.path, protocol.body);

  /** A client on a socket of its own, which has got `end`. Null: it does not read. */
  const rawClient = async (end: string | null) => {
    const { hostname, port } = new URL(running.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    const body = JSON.stringify(protocol.body);
    socket.write(
      `POST ${protocol.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-dev\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    if (end === null) return socket.pause();
    let got = "";
    await new Promise<void>((resolve) => {
      socket.on("data", (bytes) => {
        got += bytes.toString();
        if (got.includes(end)) resolve();
      });
    });
    return socket;
  };

  beforeEach(async () => {
    await until(
      async () => open,
      (count) => count === 0,
    );
    await running.admin("DELETE", "/admin/chat-history");
  });

  it("is recorded whole, with its tokens, before its end reaches the caller", async () => {
    script = async (response) => {
      await speak(response, protocol, 60);
      response.end(protocol.closing);
    };
    const response = await ask();
    expect(response.headers.get("x-gateway-path")).toBe("native");
    const text = await response.text();
    const sent =
      protocol.opening + Array.from({ length: 60 }, (_, index) => protocol.text(`${index} `)).join("");
    expect(text.replace(/"(?:piped-)?vendor\/claude-9"/, '"claude-9"')).toBe(sent + protocol.closing);
    const record = await finalRecord();
    expect(record).toMatchObject({
      ...{ status: "success", path: "native", prompt_tokens: 7, completion_tokens: 3 },
    });
    expect(await inUse()).toBe(0);
  });

  it("shows its progress in the history while it runs", async () => {
    let goOn = () => {};
    const shown = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    script = async (response) => {
      await speak(response, protocol, 10);
      const pings = setInterval(() => response.write(": still here\n\n"), 200);
      await shown;
      clearInterval(pings);
      response.end(protocol.closing);
    };
    const answer = ask().then((response) => response.text());
    const detail = async () => {
      const { id } = await lastRecord();
      return JSON.stringify((await running.admin("GET", `/admin/chat-history/${id}`)).body);
    };
    await until(detail, (record) => record.includes(spoken(10)) && record.includes('"streaming"'));
    goOn();
    expect(await answer).toContain(protocol.text("9 "));
  });

  it.each([
    ["between two events", "", true],
    ["within an event", protocol.text("half").slice(0, 40), true],
    ["in order, without a last event", "", false],
  ])("that is cut %s ends with the style's error event", async (_, fragment, broken) => {
    script = async (response) => {
      await speak(response, protocol, 30);
      await write(response, fragment);
      await sleep(50);
      if (broken) response.destroy();
      else response.end();
    };
    const text = await (await ask()).text();
    const events = eventsOf(text);
    expect(events.join("\n\n")).toContain(protocol.text("29 ").trim());
    const last = JSON.parse(events.at(-1)?.replace(/^(?:event: error\n)?data: /, "") ?? "");
    expect(last.error).toMatchObject({ message: expect.stringMatching(/./) });
    expect(text).not.toContain("[DONE]");
    expect(await finalRecord()).toMatchObject({ status: "error" });
    expect(await inUse()).toBe(0);
  });

  it("ends with the provider's own error event, and with no further one", async () => {
    script = async (response) => {
      await speak(response, protocol, 30);
      await write(response, protocol.error("overheated"));
      await sleep(200);
      response.end();
    };
    const events = eventsOf(await (await ask()).text());
    expect(events.at(-1)).toBe(protocol.error("overheated").trim());
    expect(events.filter((each) => each.includes('"error"'))).toHaveLength(1);
    expect(await finalRecord()).toMatchObject({ status: "error" });
  });

  it.skipIf(protocol.abandonment === null)(
    "that the provider gives up without an error event ends with the style's",
    async () => {
      script = async (response) => {
        await speak(response, protocol, 30);
        await write(response, protocol.abandonment ?? "");
        await sleep(200);
        response.end();
      };
      const events = eventsOf(await (await ask()).text());
      expect(events.at(-2)).toBe(protocol.abandonment?.trim());
      expect(events.at(-1)).toContain('"error"');
      expect(await finalRecord()).toMatchObject({ status: "error" });
    },
  );

  it.skipIf(isPiped)("never shows a credential of the account that an error event contains", async () => {
    script = async (response) => {
      await speak(response, protocol, 30);
      const error = protocol.error(`no more for ${TOKEN}, today`);
      const middle = error.indexOf(TOKEN) + 5;
      await write(response, error.slice(0, middle));
      await sleep(100);
      await write(response, error.slice(middle));
      await sleep(200);
      response.end();
    };
    const text = await (await ask()).text();
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(TOKEN.slice(5));
    expect(eventsOf(text).at(-1)).toContain('"error"');
    expect(await finalRecord()).toMatchObject({ status: "error" });
  });

  it("ends although the provider keeps the connection open after the last event", async () => {
    script = async (response) => {
      await speak(response, protocol, 30);
      await write(response, protocol.closing);
    };
    const text = await (await ask()).text();
    expect(text).toContain(eventsOf(protocol.closing).at(-1));
    expect(text).not.toContain("error");
    await until(
      async () => open,
      (count) => count === 0,
    );
    expect(await finalRecord()).toMatchObject({
      status: "success",
    });
  });

  it(`whose provider falls silent ends with the style's error event, ${isPiped ? "without" : "after"} keep-alives`, async () => {
    script = (response) => speak(response, protocol, 30);
    const text = await (await ask()).text();
    const silence = text.slice(text.indexOf(protocol.text("29 ")) + protocol.text("29 ").length);
    expect(protocol.keepAlive.test(silence)).toBe(!isPiped);
    expect(eventsOf(text).at(-1)).toContain('"error"');
    expect(await finalRecord()).toMatchObject({
      ...{ status: "error", status_code: 503 },
    });
    await until(
      async () => open,
      (count) => count === 0,
    );
  });

  it.each(["resetAndDestroy", "destroy"] as const)(
    "whose client leaves (%s) ends at the provider and frees its slot",
    async (leave) => {
      script = (response) => speak(response, protocol, 3_000);
      const socket = await rawClient('"29 "');
      expect(await inUse()).toBe(1);
      socket[leave]();
      await until(
        async () => open,
        (count) => count === 0,
        5_000,
      );
      await until(inUse, (slots) => slots === 0);
      expect(await finalRecord()).toMatchObject({
        status: "cancelled",
      });
    },
  );

  it("counts as answered for a client that leaves at the last event", async () => {
    script = async (response) => {
      await speak(response, protocol, 30);
      await write(response, protocol.closing);
    };
    const socket = await rawClient(eventsOf(protocol.closing).at(-1) ?? "");
    socket.resetAndDestroy();
    expect(await finalRecord()).toMatchObject({
      ...{ status: "success", completion_tokens: 3 },
    });
    await until(
      async () => open,
      (count) => count === 0,
    );
  });

  it("is held back by a client that does not read, who loses the slot", async () => {
    let written = 0;
    script = async (response) => {
      await write(response, protocol.opening);
      const text = protocol.text("x".repeat(8_000));
      while (written < HUGE_BYTES && (await write(response, text))) written += text.length;
    };
    const socket = await rawClient(null);
    await until(inUse, (slots) => slots === 1);
    await until(inUse, (slots) => slots === 0, 20_000);
    expect(written).toBeLessThan(HELD_BACK_BYTES);
    socket.destroy();
    expect(await finalRecord()).toMatchObject({ status: "cancelled" });
  }, 40_000);
});
