import { afterEach, describe, expect, it } from "vitest";
import { ON_DENO } from "../support/runtime.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";
import { type TestSocket, WebSocketClients } from "../support/web-sockets.ts";

const MIB = 1024 * 1024;

/** The share of the budget for callers without a key: a quarter. */
const STRANGERS_BYTES = 4 * MIB;

/** Instructions, which each of the events of an empty response repeats. */
const ECHOED = "x".repeat(260_000);

const api = useGateway({ vars: { BODY_BUDGET_BYTES: String(4 * STRANGERS_BYTES) } });

const opened: WebSocketClients[] = [];

function newClients(): WebSocketClients {
  const clients = new WebSocketClients(api.gateway);
  opened.push(clients);
  return clients;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((clients) => clients.end()));
  // The gateway learns of the ends of the connections a little later than their clients.
  await expect.poll(openAgain).toBe(true);
});

/** Whether strangers have memory for as many connections as at first. */
async function openAgain(): Promise<boolean> {
  const clients = new WebSocketClients(api.gateway);
  await clients.open(20);
  await clients.end();
  return clients.refusals.length === 0;
}

async function openManaged(): Promise<TestSocket> {
  const [socket] = await newClients().open(1, () => ({ key: DEV_KEY }));
  if (socket === undefined) throw new Error("the gateway refused a managed key");
  return socket;
}

describe("the memory of WebSockets", () => {
  it("limits the connections without a key, and not those with one", async () => {
    const clients = newClients();
    await clients.open(64);
    expect(clients.refusals.length).toBeGreaterThan(0);
    expect(new Set(clients.refusals)).toEqual(new Set([503]));
    const managed = await openManaged();
    managed.keep(10);
    expect(await managed.outcome()).toMatchObject({ id: expect.stringMatching(/^resp_/) });
  });

  it("evicts the oldest responses of callers without a key first, and not those of a key", async () => {
    const managed = await openManaged();
    managed.keep(400_000);
    const kept = await managed.outcome();
    const sockets = await newClients().open(8);
    const ids: (string | undefined)[] = [];
    for (const socket of sockets) {
      socket.keep(200_000);
      ids.push((await socket.outcome())?.id);
    }
    expect(ids).not.toContain(undefined);
    const goOn = async (index: number) => {
      sockets[index]?.keep(1, { previous_response_id: ids[index] ?? "" });
      return sockets[index]?.outcome();
    };
    expect(await goOn(7)).toHaveProperty("id");
    expect(await goOn(0)).toEqual({ code: "previous_response_not_found" });
    managed.keep(1, { previous_response_id: kept?.id ?? "" });
    expect(await managed.outcome()).toHaveProperty("id");
  });

  it("ends a connection whose message grows without an end", async () => {
    const [stranger] = await newClients().open(1);
    // Workers bound such a message themselves, at 32 MiB.
    for (let sent = 0; sent < 40 && stranger?.closeCode === null; sent += 1) await stranger.sendPart(MIB);
    await expect.poll(() => stranger?.closeCode).not.toBeNull();
    const managed = await openManaged();
    managed.keep(10);
    expect(await managed.outcome()).toHaveProperty("id");
  });

  // Deno reports what a client reads, so there the gateway waits for a client that reads nothing.
  it.skipIf(ON_DENO)("sends a caller without a key no more than its share before it reads", async () => {
    const [stranger] = await newClients().open(1);
    const managed = await openManaged();
    stranger?.stopReading();
    for (let asked = 0; asked < 30; asked += 1) {
      stranger?.keep(1, { instructions: ECHOED });
      managed.keep(10);
      expect(await managed.outcome()).toHaveProperty("id");
    }
    stranger?.readOn();
    let made = 0;
    for (let read = 0; read < 30; read += 1) {
      const outcome = await stranger?.outcome();
      if (outcome?.id !== undefined) made += 1;
    }
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(STRANGERS_BYTES / ECHOED.length);
  });

  it("carries any number of continued responses if a caller without a key reads them", async () => {
    const [stranger] = await newClients().open(1);
    let previous = {};
    for (let asked = 0; asked < 9; asked += 1) {
      stranger?.keep(1, { instructions: ECHOED, ...previous });
      const made = await stranger?.outcome();
      expect(made).toHaveProperty("id");
      previous = { previous_response_id: made?.id };
    }
  });
});
