import { once } from "node:events";
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const MIB = 1024 * 1024;

/** More than a connection's buffers hold, and a quarter of the share for callers without a key. */
const ANSWER_BYTES = 14 * MIB;

const api = useGateway({ vars: { BODY_BUDGET_BYTES: String(256 * MIB) } });

const requests: ClientRequest[] = [];

afterEach(() => {
  for (const request of requests.splice(0)) request.destroy();
});

/** The status of an answer whose body the client does not read. */
async function statusUnread(path: string, key: string): Promise<number | undefined> {
  const request = get(`${api.gateway.url}${path}`, {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  requests.push(request);
  request.on("error", () => undefined);
  const [response]: IncomingMessage[] = await once(request, "response");
  return response?.statusCode;
}

/** Stores an empty response whose instructions have so many bytes, and returns its path. */
async function storedPath(key: string): Promise<string> {
  const body = { model: "gpt-5", generate: false, input: "x", instructions: "x".repeat(ANSWER_BYTES) };
  const response = await api.post("/v1/responses", body, { authorization: `Bearer ${key}` });
  expect(response.status).toBe(200);
  const { id }: { id: string } = await response.json();
  return `/v1/responses/${id}`;
}

describe("unread answers", () => {
  it("count in the memory for callers without a key, until their clients leave", {
    timeout: 60_000,
  }, async () => {
    const path = await storedPath("made-up");
    const statuses = await Promise.all(Array.from({ length: 8 }, () => statusUnread(path, "made-up")));
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    const own = await storedPath(DEV_KEY);
    expect(await statusUnread(own, DEV_KEY)).toBe(200);
    for (const request of requests.splice(0)) request.destroy();
    const readAgain = async () => {
      const response = await api.fetch(path, { headers: { authorization: "Bearer made-up" } });
      return [response.status, (await response.text()).length > ANSWER_BYTES];
    };
    await expect.poll(readAgain).toEqual([200, true]);
  });
});
