import { afterEach, expect, test, vi } from "vitest";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";
import type { SocketListener } from "../../../../src/core/ports/web-socket.ts";
import { RealtimeConnection } from "../../../../src/gateway/passthrough/realtime-connection.ts";
import { ProviderEvents } from "../../../../src/gateway/passthrough/realtime-events.ts";

/** A connection between two sockets that store what they are sent. `sendToProvider`: what the provider's socket does with a text. */
function connect(sendToProvider: (text: string) => void) {
  const budget = new MemoryBudget(40_000_000);
  const memory = budget.createReservation();
  const answers: { error: { code: string } }[] = [];
  const closes: number[] = [];
  const closesOfProvider: number[] = [];
  const client = {
    send: async (text: string) => void answers.push(JSON.parse(text)),
    close: (code: number) => void closes.push(code),
  };
  const connection = new RealtimeConnection(client, {
    memory,
    signal: new AbortController().signal,
    events: new ProviderEvents({}, [], memory),
    model: "real",
    isLimited: false,
    onProviderMessage: vi.fn(),
    assertStillAllowed: async () => undefined,
  });
  let sayAsProvider = (_: string): void => undefined;
  connection.connect({
    listen: (listener) => {
      sayAsProvider = (text) => listener.onMessage(text);
      return {
        send: (text: string) => {
          sendToProvider(text);
          return Promise.resolve();
        },
        close: (code: number) => void closesOfProvider.push(code),
      };
    },
  });
  const { clientListener } = connection;
  return { connection, client: clientListener, budget, answers, closes, closesOfProvider, sayAsProvider };
}

/** Delivers a message as a runtime does that counts its bytes. */
function deliver(client: SocketListener, text: string): void {
  expect(client.onBytes(text.length)).toBe(true);
  client.onMessage(text);
}

afterEach(() => {
  vi.useRealTimers();
});

test("a caller who sends nothing is disconnected after a minute, and others after ten without a message", () => {
  vi.useFakeTimers();
  const silent = connect(() => undefined);
  const speaking = connect(() => undefined);
  deliver(speaking.client, '{"type":"session.update"}');
  // What the provider says is no sign of the caller.
  silent.sayAsProvider('{"type":"session.created"}');
  vi.advanceTimersByTime(55_000);
  expect([silent.closes, speaking.closes]).toEqual([[], []]);
  vi.advanceTimersByTime(20_000);
  expect([silent.closes, silent.closesOfProvider, speaking.closes]).toEqual([[1000], [1000], []]);
  expect(silent.answers.at(-1)?.error.code).toBe("websocket_connection_limit_reached");
  vi.advanceTimersByTime(600_000);
  expect(speaking.closes).toEqual([1000]);
});

test("messages that cannot be parsed get an error event, and the connection continues", async () => {
  const received: string[] = [];
  const { client, budget, answers, closes } = connect((text) => received.push(text));
  deliver(client, `{"model":${"[".repeat(100_000)}`);
  deliver(client, `{"model":[${"{},".repeat(300_000)}{}]}`);
  deliver(client, '{"model":NaN}');
  deliver(client, '{"type":"response.create"}');
  expect(answers.map(({ error }) => error.code)).toEqual([
    "invalid_request",
    "request_too_large",
    "invalid_request",
  ]);
  expect(received).toEqual(['{"type":"response.create"}']);
  expect(closes).toEqual([]);
  await vi.waitFor(() => expect(budget.used).toBe(0));
  client.onClose(1000);
});

test("an unexpected failure ends both sides, and releases the memory", async () => {
  const failure = new RangeError("Maximum call stack size exceeded");
  const { connection, client, budget, closes, closesOfProvider } = connect(() => {
    throw failure;
  });
  const ended = expect(connection.ended).rejects.toBe(failure);
  deliver(client, '{"type":"response.create"}');
  await ended;
  expect(closes).toEqual([1003]);
  expect(closesOfProvider).toEqual([1000]);
  client.onClose(1003);
  expect(budget.used).toBe(0);
});

test.each([
  ["is nested too deeply", `{"type":"response.done","response":${"[".repeat(100_000)}`, 1011],
  ["needs more memory than there is", `{"type":"response.done","n":[${"{},".repeat(300_000)}{}]}`, 1011],
])("an event of the provider that %s ends both sides, and releases the memory", async (_, event, code) => {
  const { connection, client, budget, answers, closes, closesOfProvider, sayAsProvider } = connect(
    () => undefined,
  );
  const ended = expect(connection.ended).rejects.toMatchObject({ code: expect.any(String) });
  sayAsProvider(event);
  await ended;
  expect([answers, closes, closesOfProvider]).toEqual([[], [code], [1000]]);
  client.onClose(code);
  expect(budget.used).toBe(0);
});
