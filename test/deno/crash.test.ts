import { afterAll, beforeAll, expect, it } from "vitest";
import { DenoGateway } from "../support/deno.ts";
import { until } from "../support/until.ts";

const KEY = { authorization: "Bearer sk-dev" };
const ADMIN = { authorization: "Bearer admin" };
const ROUNDS = 3;
/** Bounds what never comes, and no more: a busy machine takes its time. */
const PATIENCE_MS = 60_000;

let gateway: DenoGateway;
beforeAll(async () => {
  // The streams that are cut do not end by themselves.
  gateway = await DenoGateway.start({ vars: { IDLE_TIMEOUT_MS: "600000" } });
});
afterAll(() => gateway?.close());

const post = (path: string, body: unknown, headers: Record<string, string> = KEY) =>
  gateway.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const get = async <T>(path: string, headers: Record<string, string> = ADMIN): Promise<T> =>
  (await gateway.fetch(path, { headers })).json();
const stream = (text: string, headers: Record<string, string> = {}) =>
  post(
    "/v1/chat/completions",
    { model: "gpt-4o", stream: true, messages: [{ role: "user", content: text }] },
    { ...KEY, ...headers },
  );
/** Resolves when a stream has some text; `over` tells how it ended. */
async function beginStream(text: string): Promise<{ readonly over: Promise<"cut" | "ended"> }> {
  const reader = (await stream(text)).body?.getReader();
  const decoder = new TextDecoder();
  let read = "";
  while (!/"content":"[^"]/.test(read)) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) throw new Error(`the stream has ended: ${read}`);
    read += decoder.decode(value, { stream: true });
  }
  const readOn = async () => {
    while (reader !== undefined && !(await reader.read()).done);
    return "ended" as const;
  };
  return { over: readOn().catch(() => "cut" as const) };
}

interface Queue {
  readonly in_use: number;
  readonly available: number;
  readonly total: number;
}
interface HistoryList {
  readonly items: readonly {
    id: string;
    status: string;
    request_preview: string;
    response_preview: string;
  }[];
}

const history = (text: string) => get<HistoryList>(`/admin/chat-history?${new URLSearchParams({ q: text })}`);
const recordOf = async (text: string) =>
  (await history(text)).items.find(({ request_preview }) => request_preview.includes(text));

it(`loses nothing that was acknowledged when it is killed while it streams and writes, ${ROUNDS} times over`, async () => {
  const keys: string[] = [];
  const responses: string[] = [];
  // From here on each account has a token: a sign-in that a kill interrupts would be repeated.
  for (const name of ["one", "two", "three"]) {
    await (await stream("[[say:in]]", { "x-gateway-target-account": `${name}@sandbox.test` })).text();
  }
  const signIns = (await gateway.sandbox.state()).sign_ins;
  expect(Object.values(signIns)).toEqual([1, 1, 1]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const said = `round ${round} is done`;
    await (await stream(`[[say:${said}]]`)).text();
    await until(
      () => recordOf(said),
      (record) => record?.status === "success",
      PATIENCE_MS,
    );
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => beginStream(`[[big:4000]] [[hang]] broken ${round}`)),
    );
    const written = { keys: keys.length, responses: responses.length };
    const writing = async () => {
      for (let n = 0; ; n += 1) {
        const key = `sk-round-${round}-${n}`;
        if ((await post("/admin/keys", { key }, ADMIN)).ok) keys.push(key);
        const answer = await post("/v1/responses", { model: "gpt-4o", input: "[[say:kept]]" });
        const { id }: { id: string } = await answer.json();
        responses.push(id);
      }
    };
    const writes = writing().catch(() => undefined);
    await until(
      async () => [keys.length - written.keys, responses.length - written.responses],
      (more) => more.every((n) => n >= 2),
      PATIENCE_MS,
    );
    await until(
      () => recordOf(`broken ${round}`),
      (record) => record?.status === "streaming",
      PATIENCE_MS,
    );
    await gateway.end("SIGKILL");
    expect(await Promise.all(streams.map(({ over }) => over))).toEqual(["cut", "cut", "cut", "cut"]);
    await writes;
    await gateway.startAgain();

    expect(await get<Queue>("/admin/queue/status")).toMatchObject({ in_use: 0, available: 3, total: 3 });
    expect(await recordOf(said)).toMatchObject({
      status: "success",
      response_preview: expect.stringContaining(said),
    });
    expect(await recordOf(`broken ${round}`)).toMatchObject({ status: "error" });
    expect((await history("streaming")).items).toEqual([]);
    expect((await stream("[[say:first]]")).status).toBe(200);
    await (await stream("again")).text();
    expect((await gateway.sandbox.state()).sign_ins, "accounts keep their tokens").toEqual(signIns);
  }
  const { config }: { config: { api_keys: { key: string }[] } } = await get("/admin/config/export");
  const kept = new Set(config.api_keys.map(({ key }) => key));
  for (const key of keys) {
    expect([key, kept.has(key)]).toEqual([key, true]);
  }
  for (const id of responses) {
    expect(await get(`/v1/responses/${id}`, KEY)).toMatchObject({ id, status: "completed" });
  }
}, 600_000);

it("continues the count of a client's calls", async () => {
  const remaining = async () => {
    const answer = await gateway.fetch("/v1/technologies/?url=http://localhost/");
    await answer.text();
    return Number(answer.headers.get("ratelimit-remaining"));
  };
  const before = await remaining();
  await gateway.restart();
  expect(await remaining()).toBe(before - 1);
});
