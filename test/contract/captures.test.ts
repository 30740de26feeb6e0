import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { CaptureChain, CaptureSummary, Sample } from "../../src/core/ports/captures.ts";
import { until } from "../support/until.ts";
import { useGateway } from "../support/use-gateway.ts";

interface CaptureList {
  readonly enabled: boolean;
  readonly limit: number;
  readonly max_body_bytes: number;
  readonly items: CaptureSummary[];
}

const { fetch, chat } = useGateway();
const run = promisify(execFile);

async function admin<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const response = await send(path, method, body);
  return response.json();
}
const send = (path: string, method = "GET", body?: unknown) =>
  fetch(`/admin${path}`, {
    method,
    headers: { authorization: "Bearer admin" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const captures = () => admin<CaptureList>("/dev/captures");
const turns = ({ items }: CaptureList) => items.filter(({ chain_key }) => chain_key !== "");
const settings = (values: object) => send("/settings", "PUT", { captures: values });

describe("captures of upstream exchanges", () => {
  beforeEach(async () => {
    await settings({ enabled: true, limit: 20, max_body_bytes: 2_097_152 });
    await admin("/dev/captures", "DELETE");
  });

  it("exist only while they are enabled", async () => {
    await settings({ enabled: false });
    expect(await captures()).toEqual({ enabled: false, limit: 20, max_body_bytes: 2_097_152, items: [] });
    await chat("nobody looks");
    await settings({ enabled: true });
    await chat("somebody looks");
    const list = await until(captures, (found) => turns(found).length > 0);
    expect(turns(list).map(({ request_preview }) => request_preview.includes("somebody looks"))).toEqual([
      true,
    ]);
  });

  it("contain what was transmitted, without secrets", async () => {
    await chat("[[expired]][[say:Hello there]]", { stream: true }).then((response) => response.text());
    const list = await until(captures, (found) => turns(found).some(({ status }) => status === 200));
    const turn = turns(list).find(({ status }) => status === 200);
    expect(turn).toMatchObject({
      label: "completion",
      method: "POST",
      status: 200,
      outcome: "complete",
      truncated: false,
      request_headers: { authorization: "[masked]" },
      response_headers: { "content-type": expect.stringContaining("text/event-stream") },
    });
    const whole = await admin<Record<string, string>>(`/dev/captures/${turn?.id}`);
    expect(whole["request_body"]).toContain('"prompt"');
    expect(whole["response_body"]).toContain("event: finish");
    const everything = JSON.stringify([list, whole]);
    expect(list.items.map(({ label }) => label)).toContain("login");
    for (const secret of ["sandbox-token", '\\"password\\":\\"sandbox', "sk-dev"]) {
      expect(everything).not.toContain(secret);
    }
  });

  it("are bounded in number and size", async () => {
    await settings({ limit: 3, max_body_bytes: 1024 });
    for (let n = 0; n < 4; n += 1) await chat(`[[big:5000]] number ${n}`);
    const list = await until(captures, ({ items }) =>
      items.some(({ request_preview }) => request_preview.includes("number 3")),
    );
    expect(list.items.length).toBe(3);
    const turn = turns(list)[0];
    expect(turn).toMatchObject({ truncated: true });
    expect(turn?.response_bytes).toBeGreaterThan(5000);
    const whole = await admin<Record<string, string>>(`/dev/captures/${turn?.id}`);
    expect(whole["response_body"]?.length).toBeLessThanOrEqual(1024);
  });

  it("are cleared", async () => {
    await chat("gone");
    await until(captures, ({ items }) => items.length > 0);
    expect(await admin("/dev/captures", "DELETE")).toMatchObject({
      detail: expect.stringContaining("cleared"),
    });
    expect((await captures()).items).toEqual([]);
    const missing = await send("/dev/captures/cap_none");
    expect(missing.status).toBe(404);
    expect(await missing.json()).toEqual({ detail: expect.stringContaining("does not exist") });
  });

  it("stay cleared of requests that have just ended, and contain later ones", async () => {
    const gone = await chat("[[late:300]] gone");
    expect(gone.status).toBe(200);
    await admin("/dev/captures", "DELETE");
    await chat("kept");
    const { items } = await until(captures, (found) => turns(found).length > 0);
    expect(items.filter(({ request_id }) => request_id === gone.headers.get("x-request-id"))).toEqual([]);
    expect(items.map(({ request_preview }) => request_preview).join()).toContain("kept");
    expect(await admin("/dev/captures", "DELETE")).toMatchObject({ deleted: items.length });
  });

  it("are grouped by session, the first round first", async () => {
    await chat("[[incomplete:2]][[say:one two three four five six]] marked");
    await chat("other");
    const query = (q: string) =>
      admin<{ items: CaptureChain[] }>(`/dev/raw-samples/query?q=${encodeURIComponent(q)}`);
    const { items } = await until(
      () => query("MARKED"),
      (found) => found.items[0]?.round_count === 3,
    );
    expect(items).toEqual([
      {
        chain_key: expect.stringMatching(/./),
        capture_ids: [expect.any(String), expect.any(String), expect.any(String)],
        round_count: 3,
        initial_label: "completion",
        request_preview: expect.stringContaining('"prompt"'),
        response_preview: expect.stringContaining("event:"),
      },
    ]);
    const all = await admin<{ items: CaptureChain[] }>("/dev/raw-samples/query?limit=1");
    expect(all.items.length).toBe(1);
    const wrong = await send("/dev/raw-samples/query?limit=none");
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toEqual({ detail: expect.stringContaining("limit") });
  });
});

describe("raw samples", () => {
  const capture = (body: object) => send("/dev/raw-samples/capture", "POST", body);

  it("are captured by a request of the gateway to itself, whose answer is returned", async () => {
    await settings({ enabled: false });
    const response = await capture({ message: "[[say:Sampled answer]]", sample_id: "first" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-gateway-sample-id": "first",
      "x-gateway-sample-dir": "raw-samples/first",
      "x-gateway-sample-meta": "raw-samples/first/meta.json",
      "x-gateway-sample-upstream": "raw-samples/first/upstream.sse",
    });
    const text = await response.text();
    expect(text).toContain('"chat.completion.chunk"');
    const sample = await admin<Sample>("/dev/raw-samples/first");
    expect(sample.upstream).toContain("event: start");
    expect(sample.meta).toMatchObject({
      provider: "sessions",
      rounds: [{ label: "completion", status: 200 }],
    });
    expect(JSON.stringify(sample)).not.toContain("sandbox-token");
  });

  it.each([[{}], [undefined]])("are of a streamed greeting by default (body: %j)", async (sent) => {
    const response = await send("/dev/raw-samples/capture", "POST", sent);
    expect(await response.text()).toContain("data: [DONE]");
    expect(response.status).toBe(200);
    const sample = await admin<Sample>(`/dev/raw-samples/${response.headers.get("x-gateway-sample-id")}`);
    expect(sample.upstream).toContain("event: start");
  });

  it("may be of a call that is not streamed", async () => {
    const response = await capture({ message: "[[say:Sampled answer]]", stream: false });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { choices: [{ message: { content: "Sampled answer" } }] },
    ]);
  });

  it("report that nothing was captured", async () => {
    const response = await send("/settings", "PUT", {});
    expect(response.ok).toBe(true);
    const nothing = await capture({ message: "x", model: "provider-v4-flash", messages: [] });
    expect(nothing.status).toBe(400);
    expect(await nothing.json()).toEqual({ detail: "no upstream capture was recorded" });
  });

  it("are saved from captures by one selector, and replay through the decoder", async () => {
    await settings({ enabled: true });
    await chat("[[incomplete:1]][[say:to be replayed later]] selectable");
    const query = () => admin<{ items: CaptureChain[] }>("/dev/raw-samples/query?q=selectable");
    const { items } = await until(query, (found) => found.items[0]?.round_count === 2);
    const [chain] = items;
    for (const selector of [
      { chain_key: chain?.chain_key },
      { capture_id: chain?.capture_ids[0] },
      { query: "selectable" },
    ]) {
      expect(await admin("/dev/raw-samples/save", "POST", { ...selector, sample_id: "saved" })).toMatchObject(
        {
          sample_id: "saved",
          dir: "raw-samples/saved",
          meta_path: "raw-samples/saved/meta.json",
          upstream_path: "raw-samples/saved/upstream.sse",
          round_count: "capture_id" in selector ? 1 : 2,
        },
      );
    }
    const folder = await mkdtemp(join(tmpdir(), "sample-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "sample.json");
    await writeFile(file, await (await send("/dev/raw-samples/saved")).text());
    const { stdout } = await run(process.execPath, ["scripts/replay.mjs", file, "--bytes", "3"]);
    const events: { type?: string; text?: string; reason?: string }[] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const said = events.filter(({ type }) => type === "text").map(({ text }) => text);
    expect(said.join("")).toBe("to be replayed later");
    expect(events.filter(({ type }) => type === "finish").map(({ reason }) => reason)).toEqual([
      "incomplete",
      "stop",
    ]);
    const listed = await admin<{ items: { sample_id: string }[] }>("/dev/raw-samples");
    expect(listed.items.map(({ sample_id }) => sample_id)).toContain("saved");
    expect(await admin("/dev/raw-samples/saved", "DELETE")).toEqual({ success: true });
    expect((await send("/dev/raw-samples/saved")).status).toBe(404);
  });

  it.each([
    [{}, "chain_key"],
    [{ query: "x", sample_id: "../up" }, "sample_id"],
  ])("refuse to be saved by %j", async (body, field) => {
    const response = await send("/dev/raw-samples/save", "POST", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ detail: expect.stringContaining(field) });
  });

  it("are a 404 if no capture matches", async () => {
    const response = await send("/dev/raw-samples/save", "POST", { capture_id: "cap_none" });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ detail: expect.any(String) });
  });
});
