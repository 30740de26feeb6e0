import { describe, expect, test } from "vitest";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import type { SocketListener } from "../../../../src/core/ports/web-socket.ts";
import { MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

/** Realtime connections: the rules of the gateway between a caller's WebSocket and the provider's. */

const KEYS = {
  limited: "sk-limited",
  team: "sk-of-a-limited-team",
  tokens: "sk-token-budget",
  cost: "sk-cost-budget",
  requests: "sk-request-limit",
};
const CONFIG = {
  keys: [KEY],
  api_keys: [
    { id: "limited", key: KEYS.limited, models: ["oa/mine"] },
    { id: "team", key: KEYS.team, team: "few" },
    { id: "tokens", key: KEYS.tokens, limits: { tokens_per_minute: 1000 } },
    { id: "cost", key: KEYS.cost, limits: { cost_per_month: 0.5 } },
    { id: "requests", key: KEYS.requests, limits: { requests_per_minute: 100 } },
  ],
  teams: [{ id: "few", models: ["oa/mine"] }],
  callers: { unknown_keys: "refuse" as const },
  accounts: ["sk-vendor-account-one", "sk-vendor-account-two"].map((token) => ({ token, provider: "oa" })),
  providers: [
    {
      id: "oa",
      driver: "openai",
      base_url: "http://vendor.test/v1",
      token: "",
      models: { mine: "gpt-real" },
    },
    { id: "backup", driver: "openai", base_url: "http://backup.test/v1", token: "sk-b", models: { m: "b" } },
    { id: "claude", driver: "anthropic", base_url: "http://claude.test", token: "sk-c", models: { c: "c" } },
  ],
  model_routes: { any: [{ model: "oa/mine" }, { model: "backup/m" }] },
};

const createGateway = useMemoryGateway();

/** One end of a WebSocket: what it was sent, and how it was closed. */
class End {
  readonly texts: string[] = [];
  closeCode: number | null = null;

  readonly socket = {
    send: async (text: string) => {
      this.texts.push(text);
    },
    close: (code: number) => {
      this.closeCode ??= code;
    },
  };

  get events(): { type: string; error?: { code: string; message: string } }[] {
    return this.texts.map((text) => JSON.parse(text));
  }
}

interface Opening {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A gateway whose caller and provider have WebSockets in this process. */
class Realtime {
  readonly gateway: MemoryGateway;
  readonly client = new End();
  readonly provider = new End();
  readonly openings: Opening[] = [];
  protocol: string | undefined;
  /** The status with which the provider refuses a connection; null: it accepts; 0: it cannot be reached. */
  refuse: (opening: Opening) => number | null = () => null;
  #fromClient: SocketListener | undefined;
  #fromProvider: SocketListener | undefined;

  constructor({ platform, upstream, lines }: MemoryGateway) {
    const change: Partial<Platform> = {
      upgradeToWebSocket: (_, listen, { protocol }) => {
        this.protocol = protocol;
        this.#fromClient = listen(this.client.socket);
        // Node makes no response with the status that hands a connection over.
        return Object.defineProperty(new Response(null), "status", { value: 101 });
      },
      openWebSocket: async (url, headers) => {
        const opening = { url, headers };
        this.openings.push(opening);
        const status = this.refuse(opening);
        if (status === 0) throw new TypeError("connection refused");
        if (status !== null)
          return Response.json({ error: { message: `refused ${headers["authorization"]}` } }, { status });
        return {
          listen: (listener) => {
            this.#fromProvider = listener;
            return this.provider.socket;
          },
        };
      },
    };
    this.gateway = new MemoryGateway({ ...platform, ...change }, upstream, lines);
  }

  /** Opens a connection. Returns the status. */
  async open(query = "?model=oa/mine", headers: Record<string, string> = {}): Promise<number> {
    const response = await this.gateway.request(`/v1/realtime${query}`, {
      headers: {
        ...{ authorization: `Bearer ${KEY}`, upgrade: "websocket", connection: "upgrade" },
        ...{ "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
        ...headers,
      },
    });
    if (response.status !== 101) await response.text();
    return response.status;
  }

  /** The caller sends a message; null: bytes. */
  say(message: object | string | null): void {
    const text = message === null || typeof message === "string" ? message : JSON.stringify(message);
    this.#fromClient?.onBytes(text?.length ?? 3);
    this.#fromClient?.onMessage(text);
  }

  answer(event: object | null): void {
    this.#fromProvider?.onMessage(event === null ? null : JSON.stringify(event));
  }

  closeClient(code?: number): void {
    this.#fromClient?.onClose(code);
  }

  closeProvider(code?: number): void {
    this.#fromProvider?.onClose(code);
  }

  async accountsInUse(): Promise<number> {
    return (await this.gateway.platform.accounts.getStatus()).in_use;
  }
}

async function realtime(): Promise<Realtime> {
  return new Realtime(await createGateway({ config: CONFIG }));
}

/** An open connection. */
async function connected(headers: Record<string, string> = {}): Promise<Realtime> {
  const connection = await realtime();
  expect(await connection.open(undefined, headers)).toBe(101);
  return connection;
}

describe("a realtime connection", () => {
  test("carries events in both directions, holds its account, and is recorded with its usage", async () => {
    const connection = await connected();
    expect(connection.openings).toMatchObject([
      {
        url: "http://vendor.test/v1/realtime?model=gpt-real",
        headers: { authorization: expect.stringMatching(/^Bearer sk-vendor-account-(?:one|two)$/) },
      },
    ]);
    expect(await connection.accountsInUse()).toBe(1);
    connection.say({ type: "response.create" });
    expect(connection.provider.events).toEqual([{ type: "response.create" }]);
    const done = (transcript: string) => ({
      type: "response.done",
      response: {
        output: [{ type: "message", content: [{ type: "output_audio", transcript }] }],
        usage: { input_tokens: 11, output_tokens: 7, input_token_details: { cached_tokens: 3 } },
      },
    });
    connection.answer(done("Hello you."));
    connection.answer(done("And again."));
    expect(connection.client.events).toEqual([done("Hello you."), done("And again.")]);
    connection.closeClient(4002);
    expect(connection.provider.closeCode).toBe(4002);
    const [record] = await connection.gateway.history();
    expect(record).toMatchObject({
      status: "success",
      content: "Hello you.\nAnd again.\n",
      prompt_tokens: 22,
      completion_tokens: 14,
    });
    expect(connection.gateway.lines.at(-1)).toMatchObject({
      operation: "realtime",
      model: "oa/mine",
      cached_tokens: 6,
    });
    await connection.gateway.expectIdle();
  });

  test.each([
    ["a browser's key", `realtime, openai-insecure-api-key.${KEY}`, "realtime"],
    ["only a key", `openai-insecure-api-key.${KEY}`, undefined],
  ])("reads %s from its subprotocols, and does not repeat it", async (_, offered, chosen) => {
    const connection = await realtime();
    const headers = { authorization: "", "sec-websocket-protocol": offered };
    expect(await connection.open(undefined, headers)).toBe(101);
    expect(connection.protocol).toBe(chosen);
    expect(JSON.stringify(connection.openings)).not.toContain(KEY);
    connection.closeClient(1000);
  });

  test.each([
    ["?deployment=oa/mine", "?model=gpt-real"],
    ["?intent=transcription", "?intent=transcription"],
    ["?model=oa/mine&intent=transcription", "?model=gpt-real&intent=transcription"],
  ])("with the query %s is opened with %s", async (query, sent) => {
    const connection = new Realtime(
      await createGateway({
        config: { ...CONFIG, accounts: [...CONFIG.accounts, { token: "sk-d" }] },
        env: {
          PROVIDER_DRIVER: "openai",
          PROVIDER_TOKEN: "sk-d",
          PROVIDER_BASE_URL: "http://default.test/v1",
        },
      }),
    );
    expect(await connection.open(query)).toBe(101);
    expect(new URL(connection.openings[0]?.url ?? "").search.replace("%2F", "/")).toBe(sent);
    connection.closeClient(1000);
  });

  test.each([
    ["an unknown key", "?model=oa/mine", { authorization: "Bearer sk-unknown" }, 401],
    ["a model that the key must not use", "?model=oa/x", { authorization: `Bearer ${KEYS.limited}` }, 403],
    ["a limit of tokens", "?model=oa/mine", { authorization: `Bearer ${KEYS.tokens}` }, 403],
    ["a limit of costs", "?model=oa/mine", { authorization: `Bearer ${KEYS.cost}` }, 403],
    ["no model", "", {}, 400],
    ["a call", "?call_id=1&model=oa/mine", {}, 400],
    ["a provider without it", "?model=claude/c", {}, 501],
    ["no upgrade", "?model=oa/mine", { upgrade: "" }, 405],
    ["another version of the protocol", "?model=oa/mine", { "sec-websocket-version": "8" }, 426],
  ])("with %s is refused without asking the provider", async (_, query, headers, status) => {
    const connection = await realtime();
    expect(await connection.open(query, headers)).toBe(status);
    expect(connection.openings).toEqual([]);
    await connection.gateway.expectIdle();
  });

  test("goes to another account, before the caller's socket is accepted", async () => {
    const connection = await realtime();
    const tokens = () => new Set(connection.openings.map(({ headers }) => headers["authorization"]));
    connection.refuse = () => (tokens().size === 1 ? 429 : null);
    expect(await connection.open()).toBe(101);
    expect(tokens().size).toBe(2);
    connection.closeClient(1000);
  });

  test("goes to the next model of its route", async () => {
    const connection = await realtime();
    connection.refuse = ({ url }) => (url.includes("vendor") ? 500 : null);
    expect(await connection.open("?model=any")).toBe(101);
    expect(connection.openings.at(-1)?.url).toBe("http://backup.test/v1/realtime?model=b");
    connection.closeClient(1000);
    expect((await connection.gateway.history())[0]).toMatchObject({ status: "success", model: "backup/m" });
  });

  test.each([
    [404, 501],
    [500, 503],
    [400, 400],
    [0, 503],
  ])("that the provider refuses with %i is a %i, and is recorded", async (status, expected) => {
    const connection = await realtime();
    connection.refuse = () => status;
    expect(await connection.open()).toBe(expected);
    expect((await connection.gateway.history())[0]).toMatchObject({ status: "error" });
    await connection.gateway.expectIdle();
  });

  test.each([KEYS.limited, KEYS.team])(
    "keeps its model, and names no other one for a limited key or team: %s",
    async (key) => {
      const connection = await connected({ authorization: `Bearer ${key}` });
      connection.say({ type: "session.update", session: { model: "oa/mine", instructions: "Be kind." } });
      connection.say({
        type: "session.update",
        session: { audio: { transcription: { model: "whisper-1" } } },
      });
      connection.say({
        type: "session.update",
        session: { audio: { transcription: { Model: "whisper-1" } } },
      });
      expect(connection.provider.events).toEqual([
        { type: "session.update", session: { model: "gpt-real", instructions: "Be kind." } },
      ]);
      expect(connection.client.events).toMatchObject(
        Array(2).fill({ type: "error", error: { code: "permission_denied" } }),
      );
      connection.closeClient(1000);
    },
  );

  test("may name further models with a key without a list", async () => {
    const connection = await connected();
    const event = { type: "session.update", session: { audio: { transcription: { model: "whisper-1" } } } };
    connection.say(event);
    expect(connection.provider.events).toEqual([event]);
    connection.closeClient(1000);
  });

  test.each([
    [4001, 4001],
    [1000, 1000],
    [1006, 1011],
    [undefined, 1011],
    [1005, 1000],
  ])("ends, if the provider ends with %s, with %i", async (code, expected) => {
    const connection = await connected();
    connection.closeProvider(code);
    expect(connection.client.closeCode).toBe(expected);
    await connection.gateway.expectIdle();
    connection.closeClient(expected);
  });

  test.each([
    ["the caller", 1003, 1000],
    ["the provider", 1011, 1000],
  ])("ends after a binary message of %s", async (from, clientCode, providerCode) => {
    const connection = await connected();
    if (from === "the caller") connection.say(null);
    else connection.answer(null);
    expect([connection.client.closeCode, connection.provider.closeCode]).toEqual([clientCode, providerCode]);
    await connection.gateway.expectIdle();
    connection.closeClient();
  });

  test("does not show the account's token", async () => {
    const connection = await connected();
    const authorization = connection.openings[0]?.headers["authorization"];
    connection.answer({ type: "error", error: { message: `no quota: ${authorization}` } });
    expect(connection.client.texts).toHaveLength(1);
    expect(connection.client.texts[0]).toContain("no quota");
    expect(connection.client.texts[0]).not.toContain("sk-vendor-account");
    connection.closeClient(1000);
  });

  test.each([
    ["is deleted", null, 401, "invalid_api_key"],
    ["is disabled", { disabled: true }, 401, "invalid_api_key"],
    ["expires", { expires: 1 }, 401, "invalid_api_key"],
    ["gets a budget", { limits: { cost_per_day: 1 } }, 403, "permission_denied"],
  ])("ends when its key %s", async (_, change, status, code) => {
    const connection = await connected({ authorization: `Bearer ${KEYS.requests}` });
    await connection.gateway.platform.configuration.update((current) => ({
      ...current,
      api_keys: current.api_keys.flatMap((entry) =>
        entry.key !== KEYS.requests ? [entry] : change === null ? [] : [{ ...entry, ...change }],
      ),
    }));
    await pass(30_000);
    expect(connection.client.events).toMatchObject([{ type: "error", error: { code } }]);
    expect([connection.client.closeCode, connection.provider.closeCode]).toEqual([1008, 1000]);
    await connection.gateway.expectIdle();
    connection.closeClient(1008);
    expect(await connection.gateway.history()).toMatchObject([{ status: "error", status_code: status }]);
  });

  test("stays open for a key that may use it", async () => {
    const connection = await connected({ authorization: `Bearer ${KEYS.requests}` });
    await pass(60_000);
    expect(connection.client.closeCode).toBeNull();
    connection.closeClient(1000);
  });

  const MINUTE = 60_000;

  /** Waits until the gateway has ended the connection, and checks the reason that the caller gets. */
  async function expireWith(connection: Realtime, message: string): Promise<void> {
    await pass(MINUTE / 2);
    expect(connection.client.events.at(-1)).toMatchObject({
      error: {
        code: "websocket_connection_limit_reached",
        message: expect.stringContaining(message),
      },
    });
    expect([connection.client.closeCode, connection.provider.closeCode]).toEqual([1000, 1000]);
    await connection.gateway.expectIdle();
    connection.closeClient(1000);
  }

  test("ends ten minutes after the last message of either side", async () => {
    const connection = await connected();
    connection.say({ type: "response.create" });
    await pass(9.5 * MINUTE);
    connection.answer({ type: "session.updated" });
    await pass(9.5 * MINUTE);
    expect(connection.client.closeCode).toBeNull();
    await pass(MINUTE / 2);
    await expireWith(connection, "nothing was sent for too long");
  });

  test("ends after an hour, even while messages are sent", async () => {
    const connection = await connected();
    for (let minutes = 0; minutes < 56; minutes += 8) {
      connection.say({ type: "response.create" });
      await pass(8 * MINUTE);
    }
    connection.say({ type: "response.create" });
    await pass(3.75 * MINUTE);
    expect(connection.client.closeCode).toBeNull();
    await expireWith(connection, "the connection has reached its longest life");
  });

  test("ends after a minute if the caller has sent nothing, even if the provider has", async () => {
    const connection = await connected();
    connection.answer({ type: "session.created" });
    await pass(0.75 * MINUTE);
    expect(connection.client.closeCode).toBeNull();
    await expireWith(connection, "the caller sent nothing");
  });
});
