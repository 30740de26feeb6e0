import { afterAll, beforeAll, expect, it } from "vitest";
import { DenoGateway } from "../support/deno.ts";
import { until } from "../support/until.ts";

const KEY = { authorization: "Bearer sk-dev" };
const ADMIN = { authorization: "Bearer admin" };
const ROUNDS = 3;

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start();
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
const stream = (text: string) =>
  post("/v1/chat/completions", {
    model: "gpt-4o",
    stream: true,
    messages: [{ role: "user", content: text }],
  });

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
  for (let round = 0; round < ROUNDS; round += 1) {
    const said = `round ${round} is done`;
    await (await stream(`[[say:${said}]]`)).text();
    await until(
      () => recordOf(said),
      (record) => record?.status === "success",
    );
    let killed = false;
    const streams = Array.from({ length: 4 }, async () => {
      try {
        const reader = (await stream(`[[slow:2000]] [[big:4000]] broken ${round}`)).body?.getReader();
        while (reader !== undefined && !(await reader.read()).done);
        return killed ? "cut" : "ended";
      } catch {
        return "cut";
      }
    });
    const writing = async () => {
      for (let n = 0; ; n += 1) {
        const key = `sk-round-${round}-${n}`;
        if ((await post("/admin/keys", { key }, ADMIN)).ok) keys.push(key);
        const answer = await post("/v1/responses", { model: "gpt-4o", input: "[[say:kept]]" });
        const { id }: { id: string } = await answer.json();
        responses.push(id);
      }
    };
    const written = writing().catch(() => undefined);
    await until(
      () => get<Queue>("/admin/queue/status"),
      ({ in_use }) => in_use >= 4,
    );
    await until(
      () => recordOf(`broken ${round}`),
      (record) => record?.status === "streaming",
    );
    await until(
      async () => Math.min(keys.length, responses.length),
      (written) => written > 2 * round + 1,
    );
    killed = true;
    await gateway.end("SIGKILL");
    expect(await Promise.all(streams)).toEqual(["cut", "cut", "cut", "cut"]);
    await written;
    const signIns = (await gateway.sandbox.state()).sign_ins;
    await gateway.startAgain();

    expect(await get<Queue>("/admin/queue/status")).toMatchObject({ in_use: 0, available: 3, total: 3 });
    expect((await stream("[[say:first]]")).status).toBe(200);
    expect(await recordOf(said)).toMatchObject({
      status: "success",
      response_preview: expect.stringContaining(said),
    });
    expect(await recordOf(`broken ${round}`)).toMatchObject({ status: "error" });
    expect((await history("streaming")).items).toEqual([]);
    await (await stream("again")).text();
    expect((await gateway.sandbox.state()).sign_ins, "accounts keep their tokens").toEqual(signIns);
  }
  expect(keys.length).toBeGreaterThan(ROUNDS);
  expect(responses.length).toBeGreaterThan(ROUNDS);
  const { config }: { config: { api_keys: { key: string }[] } } = await get("/admin/config/export");
  const kept = new Set(config.api_keys.map(({ key }) => key));
  for (const key of keys) {
    expect([key, kept.has(key)]).toEqual([key, true]);
  }
  for (const id of responses) {
    expect(await get(`/v1/responses/${id}`, KEY)).toMatchObject({ id, status: "completed" });
  }
}, 90_000);

it("goes on counting a client's calls where it was", async () => {
  const remaining = async () => {
    const answer = await gateway.fetch("/v1/technologies/?url=http://localhost/");
    await answer.text();
    return Number(answer.headers.get("ratelimit-remaining"));
  };
  const before = await remaining();
  await gateway.restart();
  expect(await remaining()).toBe(before - 1);
});
