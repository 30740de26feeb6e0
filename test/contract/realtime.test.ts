import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import OpenAI, { AzureOpenAI } from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { json, type PassthroughVendor, startVendor } from "../support/passthrough-vendor.ts";
import { ON_DENO } from "../support/runtime.ts";
import { startTlsFront, TEST_AUTHORITY, type TlsFront } from "../support/tls-front.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

/** Realtime connections: a real WebSocket client in front of the gateway, and a vendor's WebSocket server behind it. */

const LIMITED_KEY = "sk-limited";
const TEAM_KEY = "sk-of-a-limited-team";
const BUDGET_KEYS = { tokens: "sk-token-budget", cost: "sk-cost-budget", requests: "sk-request-limit" };
const TOKEN = "sk-vendor-account-one";

/** A connection as the vendor sees it. */
interface VendorConnection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: WebSocket;
  readonly messages: string[];
  closeCode: number | null;
}

const connections: VendorConnection[] = [];
let vendor: PassthroughVendor;
/** The SDK accepts no other address. */
let front: TlsFront;
beforeAll(async () => {
  front = await startTlsFront(() => running.gateway.url);
});
afterAll(() => front.close());
/** Status of every handshake; null: they are accepted. */
let refuses: ((token: string) => number | null) | null = null;

function answerEvent(socket: WebSocket, text: string): void {
  const event: { type: string } = JSON.parse(text);
  const send = (value: object) => socket.send(JSON.stringify(value));
  if (event.type === "session.update") send({ ...event, type: "session.updated" });
  if (event.type !== "response.create") return;
  send({ type: "response.output_audio_transcript.delta", delta: "Hel" });
  send({
    type: "response.done",
    response: {
      output: [{ type: "message", content: [{ type: "output_audio", transcript: "Hello you." }] }],
      usage: {
        input_tokens: 11,
        output_tokens: 7,
        total_tokens: 18,
        input_token_details: { cached_tokens: 3 },
      },
    },
  });
}

beforeAll(async () => {
  vendor = await startVendor(() => json({ data: [] }));
  const server = new WebSocketServer({ noServer: true });
  vendor.server.on("upgrade", (request, stream, head) => {
    const token = String(request.headers.authorization).replace("Bearer ", "");
    const status = refuses?.(token) ?? null;
    if (status !== null) {
      const body = JSON.stringify({ error: { message: `refused ${token}`, code: null } });
      stream.end(
        `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    server.handleUpgrade(request, stream, head, (socket) => {
      const { url = "", headers } = request;
      const connection: VendorConnection = { url, headers, socket, messages: [], closeCode: null };
      connections.push(connection);
      socket.on("message", (data) => {
        connection.messages.push(data.toString());
        answerEvent(socket, data.toString());
      });
      socket.on("close", (code) => {
        connection.closeCode = code;
      });
      socket.on("error", () => undefined);
      socket.send(JSON.stringify({ type: "session.created" }));
    });
  });
});
afterAll(async () => {
  for (const { socket } of connections) socket.terminate();
  await vendor.close();
});

const running = useAdmin(() => ({
  vars: {
    GATEWAY_CONFIG_WRITEBACK: "true",
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      api_keys: [
        { id: "limited", key: LIMITED_KEY, models: ["oa/mine"] },
        { id: "team", key: TEAM_KEY, team: "few" },
        { id: "tokens", key: BUDGET_KEYS.tokens, limits: { tokens_per_minute: 1000 } },
        { id: "cost", key: BUDGET_KEYS.cost, limits: { cost_per_month: 0.5 } },
        { id: "requests", key: BUDGET_KEYS.requests, limits: { requests_per_minute: 100, max_parallel: 2 } },
      ],
      teams: [{ id: "few", models: ["oa/mine"] }],
      callers: { unknown_keys: "refuse" },
      accounts: [
        { token: TOKEN, name: "one", provider: "oa", email: "one@vendor.test" },
        { token: `${TOKEN}-2`, name: "two", provider: "oa", email: "two@vendor.test" },
      ],
      providers: [
        { id: "oa", driver: "openai", base_url: `${vendor.url}/v1`, token: "", models: { mine: "gpt-real" } },
        { id: "claude", driver: "anthropic", base_url: vendor.url, token: "sk-claude", models: { c: "c" } },
      ],
    }),
  },
}));

const open: WebSocket[] = [];
beforeEach(() => {
  connections.length = 0;
  refuses = null;
});

/** A client's socket with the messages that it got. */
class Client {
  readonly socket: WebSocket;
  readonly messages: Record<string, unknown>[] = [];
  closeCode: number | null = null;

  constructor(socket: WebSocket) {
    this.socket = socket;
    open.push(socket);
    socket.on("message", (data) => this.messages.push(JSON.parse(data.toString())));
    socket.on("close", (code) => {
      this.closeCode = code;
    });
    socket.on("error", () => undefined);
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  /** Waits for a message of a type. */
  async next(type: string): Promise<Record<string, unknown>> {
    const found = await until(
      async () => this.messages.find((message) => message["type"] === type),
      (message) => message !== undefined || this.closeCode !== null,
    );
    if (found === undefined) throw new Error(`closed with ${this.closeCode} before ${type}`);
    return found;
  }

  async closed(): Promise<number> {
    await until(
      async () => this.closeCode,
      (code) => code !== null,
    );
    return this.closeCode ?? 0;
  }
}
afterAll(() => {
  for (const socket of open) socket.terminate();
});

const address = (path: string) => `${running.gateway.url.replace(/^http/, "ws")}${path}`;

/** Opens a connection. Returns the status of a refused one. */
async function connect(
  path = "/v1/realtime?model=oa/mine",
  headers: Record<string, string> = { authorization: `Bearer ${DEV_KEY}` },
  protocols: string[] = [],
): Promise<Client | number> {
  const socket = new WebSocket(address(path), protocols, { headers, perMessageDeflate: false });
  const client = new Client(socket);
  return new Promise((resolve) => {
    socket.once("open", () => resolve(client));
    socket.once("unexpected-response", (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.once("close", () => resolve(0));
  });
}

async function connected(...args: Parameters<typeof connect>): Promise<Client> {
  const client = await connect(...args);
  if (typeof client === "number") throw new Error(`refused with ${client}`);
  return client;
}

const inUse = async () => (await running.admin("GET", "/admin/queue/status")).body["in_use"];
const idle = (milliseconds?: number) => until(inUse, (count) => count === 0, milliseconds);

/** Waits until the gateway has ended the connection, which takes ten seconds. */
async function endsWith(client: Client, closeCode: number, code: string): Promise<void> {
  await until(
    async () => client.closeCode,
    (found) => found !== null,
    20_000,
  );
  expect(client.closeCode).toBe(closeCode);
  expect(client.messages.at(-1)).toMatchObject({ type: "error", error: { code } });
}

describe("a realtime connection", () => {
  it("carries the SDK's events in both directions, and holds its account", async () => {
    const openai = new OpenAI({ apiKey: DEV_KEY, baseURL: `${front.url}/v1` });
    const realtime = new OpenAIRealtimeWS({ model: "oa/mine", options: { ca: TEST_AUTHORITY } }, openai);
    const created = new Promise((resolve) => realtime.once("session.created", resolve));
    await created;
    expect(await inUse()).toBe(1);
    const done = new Promise<{ response: { usage?: unknown } }>((resolve) =>
      realtime.once("response.done", (event) => resolve(event)),
    );
    realtime.send({ type: "response.create" });
    expect((await done).response.usage).toMatchObject({ total_tokens: 18 });
    const [connection] = connections;
    expect(connection?.url).toBe("/v1/realtime?model=gpt-real");
    expect(connection?.headers["authorization"]).toMatch(/^Bearer sk-vendor-account-one/);
    realtime.close();
    await idle();
    await until(
      async () => connection?.closeCode,
      (code) => code !== null,
    );
    const history = await until(
      async () => running.admin("GET", "/admin/chat-history?page_size=1"),
      ({ body }) => JSON.stringify(body).includes("success"),
    );
    expect(history.body["items"]).toMatchObject([
      { operation: "realtime", prompt_tokens: 11, cached_tokens: 3 },
    ]);
  });

  it("accepts a browser's key in its subprotocols, and does not pass it on", async () => {
    const client = await connected("/v1/realtime?model=oa/mine", {}, [
      "realtime",
      `openai-insecure-api-key.${DEV_KEY}`,
    ]);
    await client.next("session.created");
    expect(client.socket.protocol).toBe("realtime");
    expect(JSON.stringify(connections[0]?.headers)).not.toContain(DEV_KEY);
    client.socket.close();
    await idle();
  });

  it("works with Azure's clients", async () => {
    const azure = new AzureOpenAI({
      apiKey: DEV_KEY,
      endpoint: front.url,
      apiVersion: "2025-04-01-preview",
      deployment: "oa/mine",
    });
    const realtime = await OpenAIRealtimeWS.azure(azure, { options: { ca: TEST_AUTHORITY } });
    await new Promise((resolve) => realtime.once("session.created", resolve));
    expect(connections[0]?.url).toBe("/v1/realtime?model=gpt-real");
    realtime.close();
    await idle();
  });

  it.each([
    ["an unknown key", "/v1/realtime?model=oa/mine", "sk-unknown", 401],
    ["a model that the key must not use", "/v1/realtime?model=oa/other", LIMITED_KEY, 403],
    ["a limit of tokens", "/v1/realtime?model=oa/mine", BUDGET_KEYS.tokens, 403],
    ["a provider without it", "/v1/realtime?model=claude/c", DEV_KEY, 501],
  ])("with %s is refused before the provider hears of it", async (_, path, key, status) => {
    expect(await connect(path, { authorization: `Bearer ${key}` })).toBe(status);
    expect(connections).toEqual([]);
    await idle();
  });

  it("without an upgrade is a 405", async () => {
    const response = await running.fetch("/v1/realtime?model=oa/mine", {
      headers: { authorization: `Bearer ${DEV_KEY}` },
    });
    expect(response.status).toBe(405);
  });

  it("goes to another account, before the caller's socket is accepted", async () => {
    let first = "";
    refuses = (token) => {
      first ||= token;
      return token === first ? 429 : null;
    };
    const client = await connected();
    await client.next("session.created");
    expect(connections[0]?.headers["authorization"]).not.toBe(`Bearer ${first}`);
    client.socket.close();
    await idle();
  });

  it("is a 501 if the provider does not have it", async () => {
    refuses = () => 404;
    expect(await connect()).toBe(501);
    await idle();
  });

  it.each([LIMITED_KEY, TEAM_KEY])(
    "keeps its model, and names no other one for a limited key or team: %s",
    async (key) => {
      const client = await connected(undefined, { authorization: `Bearer ${key}` });
      client.send({ type: "session.update", session: { model: "oa/mine", instructions: "Be kind." } });
      await client.next("session.updated");
      const transcription = { model: "whisper-1" };
      client.send({ type: "session.update", session: { audio: { input: { transcription } } } });
      expect(await client.next("error")).toMatchObject({ error: { code: "permission_denied" } });
      expect(connections[0]?.messages.map((text) => JSON.parse(text))).toEqual([
        { type: "session.update", session: { model: "gpt-real", instructions: "Be kind." } },
      ]);
      client.socket.close();
      const other = await connected();
      other.send({ type: "session.update", session: { audio: { input: { transcription } } } });
      expect(await other.next("session.updated")).toMatchObject({
        session: { audio: { input: { transcription } } },
      });
      other.socket.close();
      await idle();
    },
  );

  it("refuses messages that it cannot check, and continues", async () => {
    const client = await connected(undefined, { authorization: `Bearer ${BUDGET_KEYS.requests}` });
    const hostile = [
      '{"session":{"model":"big"},"n":NaN}',
      `{"model":${"[".repeat(100_000)}`,
      `{"model":[${"{},".repeat(4_000_000)}{}]}`,
    ];
    for (const text of hostile) client.socket.send(text);
    client.send({ type: "session.update", session: { instructions: "Be kind." } });
    await client.next("session.updated");
    const errors = client.messages.filter(({ type }) => type === "error");
    expect(errors).toMatchObject([
      { error: { code: "invalid_request" } },
      { error: { code: "invalid_request" } },
      { error: { code: "request_too_large" } },
    ]);
    expect(connections[0]?.messages).toHaveLength(1);
    client.socket.close(4002, "done");
    const closeCode = await until(
      async () => connections[0]?.closeCode,
      (code) => code !== null,
    );
    expect(closeCode).toBe(4002);
    await idle();
  });

  it("ends with the provider's connection, with the same code or 1011 if it was cut", async () => {
    const client = await connected();
    await client.next("session.created");
    connections[0]?.socket.close(4001, "enough");
    expect(await client.closed()).toBe(4001);
    const cut = await connected();
    await cut.next("session.created");
    connections[1]?.socket.terminate();
    expect(await cut.closed()).toBe(1011);
    await idle();
  });

  it("ends at the provider when the caller departs", async () => {
    const client = await connected();
    await client.next("session.created");
    client.socket.terminate();
    await until(
      async () => connections[0]?.closeCode,
      (code) => code !== null,
    );
    await idle();
  });

  it("ends when its key is deleted, or may no longer use the model", async () => {
    const connectWith = async (id: string) => {
      const key = `sk-${id}-while-it-is-used`;
      expect((await running.admin("POST", "/admin/keys", { id, key })).status).toBe(200);
      const client = await connected(undefined, { authorization: `Bearer ${key}` });
      await client.next("session.created");
      return client;
    };
    const deleted = await connectWith("deleted");
    const narrowed = await connectWith("narrowed");
    expect((await running.admin("DELETE", "/admin/keys/deleted")).status).toBe(200);
    expect((await running.admin("PUT", "/admin/keys/narrowed", { models: ["oa/other"] })).status).toBe(200);
    await endsWith(deleted, 1008, "invalid_api_key");
    await endsWith(narrowed, 1008, "permission_denied");
    await idle();
  });

  it("ends when its account or its provider is disabled", async () => {
    const client = await connected();
    await client.next("session.created");
    const [connection] = connections;
    const used = connection?.headers["authorization"] === `Bearer ${TOKEN}` ? "one" : "two";
    const path = `/admin/accounts/${used}@vendor.test`;
    expect((await running.admin("PUT", path, { disabled: true })).status).toBe(200);
    const other = await connected();
    await other.next("session.created");
    await endsWith(client, 1013, "account_pool_unavailable");
    expect(other.closeCode).toBe(null);
    expect((await running.admin("PUT", path, { disabled: false })).status).toBe(200);
    expect((await running.admin("PUT", "/admin/providers/oa", { enabled: false })).status).toBe(200);
    await endsWith(other, 1013, "account_pool_unavailable");
    expect((await running.admin("PUT", "/admin/providers/oa", { enabled: true })).status).toBe(200);
    await idle();
  }, 60_000);

  it("holds nothing for callers who leave during the handshake", async () => {
    const { hostname, port, host } = new URL(running.gateway.url);
    for (let turn = 0; turn < 40; turn += 1) {
      const socket = connectSocket(Number(port), hostname);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(
        `GET /v1/realtime?model=oa/mine HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${DEV_KEY}\r\n` +
          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      );
      await new Promise((resolve) => setTimeout(resolve, turn % 8));
      socket.resetAndDestroy();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // The Worker in front of the gateway may keep the socket of one who left: it ends after a minute without a message.
    await idle(80_000);
    await until(
      async () => connections.filter(({ closeCode }) => closeCode === null),
      ({ length }) => length === 0,
    );
  }, 120_000);

  it("does not show the account's token", async () => {
    const client = await connected();
    await client.next("session.created");
    const authorization = connections[0]?.headers["authorization"];
    connections[0]?.socket.send(
      JSON.stringify({ type: "error", error: { message: `no quota: ${authorization}` } }),
    );
    expect(JSON.stringify(await client.next("error"))).not.toContain(TOKEN);
    client.socket.close();
    await idle();
  });

  it("refuses messages that are not text", async () => {
    const client = await connected();
    client.socket.send(Buffer.from([1, 2, 3]));
    expect(await client.closed()).toBe(1003);
    await idle();
  });

  it("carries large messages whole", async () => {
    const client = await connected();
    const audio = "A".repeat(3_000_000);
    client.send({ type: "input_audio_buffer.append", audio });
    const [connection] = await until(
      async () => connections,
      ([first]) => (first?.messages.length ?? 0) > 0,
    );
    expect(connection?.messages[0]).toBe(JSON.stringify({ type: "input_audio_buffer.append", audio }));
    client.socket.close();
    await idle();
  });

  it("holds a provider back whose messages are not read, or ends", async () => {
    const client = await connected();
    await client.next("session.created");
    client.socket.pause();
    const socket = connections[0]?.socket;
    if (socket === undefined) throw new Error("the vendor has no connection");
    const event = JSON.stringify({ type: "response.output_audio.delta", delta: "A".repeat(250_000) });
    // What the network holds is no more than a few megabytes.
    let sent = 0;
    while (sent < 400 && socket.readyState === WebSocket.OPEN && socket.bufferedAmount < 8_000_000) {
      socket.send(event);
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(sent).toBeLessThan(400);
    const chat = await running.admin("GET", "/admin/queue/status");
    expect(chat.status).toBe(200);
    if (ON_DENO) {
      // The reader reads on, and misses nothing.
      client.socket.resume();
      await until(
        async () => client.messages.length,
        (count) => count === sent + 1,
        20_000,
      );
    }
    client.socket.terminate();
    await Promise.race([once(socket, "close"), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    await idle();
  });
});
