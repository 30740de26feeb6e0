import OpenAI, { AzureOpenAI, toFile } from "openai";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  formOf,
  json,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

/** Batches at a provider, with the vendor's SDK: ids belong to the caller, and the input file names the account. */

const OTHER_KEY = "sk-other";
const LIMITED_KEY = "sk-limited";
const COUNTED_KEY = "sk-counted";
const BUDGET_KEY = "sk-budget";
const COUNTED_TWICE_KEY = "sk-counted-twice";
const LINES = '{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"real-chat"}}\n';
const RESULTS = '{"custom_id":"1","response":{"status_code":200}}\n';

interface VendorBatch {
  readonly key: string;
  readonly batch: Record<string, unknown>;
}

/** Files and batches by their ids at the vendor. Each belongs to the API key that created it. */
const files = new Map<string, string>();
const batches = new Map<string, VendorBatch>();

async function answer(request: VendorRequest): Promise<VendorAnswer> {
  const { method, path, headers, body } = request;
  const key = headers.authorization ?? "";
  const missing = json({ error: { message: `nothing at ${path}`, code: null } }, 404);
  if (path === "/v1/models") return json({ data: [] });
  if (path === "/v1/files") {
    const file = (await formOf(request)).get("file");
    const id = `file-vendor-${files.size}`;
    files.set(id, key);
    return json({ id, object: "file", bytes: file instanceof File ? file.size : 0, purpose: "batch" });
  }
  if (path.startsWith("/v1/files/")) {
    const [, , , id = "", content] = path.split("/");
    if (files.get(id) !== key) return missing;
    return content === "content"
      ? { body: RESULTS }
      : json({ id, bytes: RESULTS.length, filename: "out.jsonl" });
  }
  const [, , resource, id, action] = path.split("/");
  if (resource !== "batches") return missing;
  if (method === "POST" && id === undefined) {
    const asked: { input_file_id: string } = JSON.parse(body.toString());
    if (files.get(asked.input_file_id) !== key) return json({ error: { message: "no such file" } }, 400);
    const batch = { id: `batch_vendor_${batches.size}`, object: "batch", status: "in_progress", ...asked };
    batches.set(batch.id, { key, batch });
    return json(batch);
  }
  const found = batches.get(id ?? "");
  if (found === undefined || found.key !== key) return missing;
  if (action === "cancel") found.batch["status"] = "cancelling";
  return json(found.batch);
}

const vendor = await startVendor(answer);
afterAll(() => vendor.close());
beforeEach(() => {
  vendor.received.length = 0;
  vendor.script = answer;
});

const running = useGateway({
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY, OTHER_KEY],
      api_keys: [
        { id: "limited", key: LIMITED_KEY, models: ["oa/mine"] },
        { id: "counted", key: COUNTED_KEY, limits: { tokens_per_minute: 1_000_000 } },
        { id: "budget", key: BUDGET_KEY, limits: { tokens_per_day: 400_000 } },
        { id: "twice", key: COUNTED_TWICE_KEY, limits: { tokens_per_day: 10_000_000 } },
      ],
      callers: { unknown_keys: "refuse" },
      accounts: [1, 2, 3].map((index) => ({
        token: `sk-vendor-account-${index}`,
        name: `a${index}`,
        provider: "oa",
        email: `a${index}@vendor.test`,
      })),
      providers: [
        { id: "oa", driver: "openai", base_url: `${vendor.url}/v1`, token: "", models: { mine: "m" } },
        { id: "claude", driver: "anthropic", base_url: vendor.url, token: "sk-claude", models: { c: "c" } },
      ],
    }),
  },
});

const client = (apiKey = DEV_KEY, headers = {}) =>
  new OpenAI({
    apiKey,
    baseURL: `${running.gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-gateway-provider": "oa", ...headers },
  });

const upload = async (openai = client()) =>
  openai.files.create({ file: await toFile(Buffer.from(LINES), "lines.jsonl"), purpose: "batch" });

const create = (input_file_id: string, openai = client()) =>
  openai.batches.create({ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" });

/** The batch as the vendor has it. */
const atVendor = () => {
  const last = [...batches.values()].at(-1);
  if (last === undefined) throw new Error("the vendor has no batch");
  return last;
};

/** Completes the last batch, with a file of results. */
function complete(usage?: object): void {
  const { key, batch } = atVendor();
  const id = `file-results-${files.size}`;
  files.set(id, key);
  Object.assign(batch, { status: "completed", output_file_id: id, model: "m", ...(usage && { usage }) });
}

describe("batches", () => {
  it("are created at the account of the input file, under ids of the gateway", async () => {
    for (const index of [1, 2, 3]) {
      const file = await upload(client(DEV_KEY, { "x-gateway-target-account": `a${index}@vendor.test` }));
      const batch = await create(file.id);
      expect(batch).toMatchObject({ object: "batch", status: "in_progress", input_file_id: file.id });
      expect(batch.id).toMatch(/^batch_[\da-f]{32}$/);
      const { key, batch: there } = atVendor();
      expect(key).toContain(`sk-vendor-account-${index}`);
      expect(files.get(String(there["input_file_id"]))).toBe(key);
      expect(await client().batches.retrieve(batch.id)).toEqual(batch);
    }
  });

  it("have results that become files of the caller", async () => {
    const file = await upload();
    const { id } = await create(file.id);
    complete();
    const done = await client().batches.retrieve(id);
    expect(done.status).toBe("completed");
    const results = done.output_file_id ?? "";
    expect(results).toMatch(/^file-[\da-f]{32}$/);
    expect(await (await client().files.content(results)).text()).toBe(RESULTS);
    expect((await client().batches.retrieve(id)).output_file_id).toBe(results);
    await expect(client(OTHER_KEY).files.content(results)).rejects.toMatchObject({ status: 404 });
    const listed = await client().files.list();
    expect(listed.data.map((entry) => entry.id)).toContain(results);
  });

  it("are cancelled and listed, the newest first", async () => {
    const file = await upload();
    const first = await create(file.id);
    const second = await create(file.id);
    expect(await client().batches.cancel(second.id)).toMatchObject({ id: second.id, status: "cancelling" });
    const page = await client().batches.list({ limit: 1 });
    expect(page.data).toMatchObject([{ id: second.id, status: "cancelling", input_file_id: file.id }]);
    const next = await page.getNextPage();
    expect(next.data).toMatchObject([{ id: first.id, status: "in_progress" }]);
  });

  it("of another caller are unknown, and so are the files", async () => {
    const file = await upload();
    const { id } = await create(file.id);
    const { batch } = atVendor();
    const calls = vendor.received.length;
    for (const call of [
      () => client(OTHER_KEY).batches.retrieve(id),
      () => client(OTHER_KEY).batches.cancel(id),
      () => client(OTHER_KEY).batches.list({ after: id }),
      () => create(file.id, client(OTHER_KEY)),
      () => client().batches.retrieve(String(batch["id"])),
      () => client().batches.retrieve("batch_nothing"),
      () => create(String(batch["input_file_id"])),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 404 });
    }
    expect((await client(OTHER_KEY).batches.list()).data).toEqual([]);
    expect(vendor.received.length).toBe(calls);
  });

  it("are a 404 if the provider no longer has them", async () => {
    const { id } = await create((await upload()).id);
    batches.clear();
    await expect(client().batches.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it("are refused for keys that are limited to certain models, because their lines name models", async () => {
    await expect(create("file-x", client(LIMITED_KEY))).rejects.toMatchObject({ status: 403 });
  });

  it("count the tokens that the provider states, once", async () => {
    const counted = client(COUNTED_KEY);
    const { id } = await create((await upload(counted)).id, counted);
    // Read while it runs, when the provider states only a part.
    Object.assign(atVendor().batch, { usage: { input_tokens: 10, output_tokens: 0, total_tokens: 10 } });
    await counted.batches.retrieve(id);
    complete({ input_tokens: 300_000, output_tokens: 200_000, total_tokens: 500_000 });
    const remaining = async () => {
      const response = await counted.batches.retrieve(id).asResponse();
      await response.text();
      return Number(response.headers.get("x-ratelimit-remaining-tokens"));
    };
    await remaining();
    // What a request used is settled after its answer.
    const left = await until(remaining, (tokens) => tokens < 600_000);
    expect(left).toBeGreaterThan(400_000);
    for (let turn = 0; turn < 3; turn += 1) expect(await remaining()).toBeGreaterThan(400_000);
  });

  it("count the tokens once although two requests read the batch at the same time", async () => {
    const counted = client(COUNTED_TWICE_KEY);
    const { id } = await create((await upload(counted)).id, counted);
    complete({ input_tokens: 300_000, output_tokens: 200_000, total_tokens: 500_000 });
    let arrived = 0;
    const both = Promise.withResolvers<void>();
    vendor.script = async (request) => {
      arrived += 1;
      if (arrived === 2) both.resolve();
      await both.promise;
      return answer(request);
    };
    await Promise.all([counted.batches.retrieve(id), counted.batches.retrieve(id)]);
    const used = async () => {
      const response = await running.fetch("/v1/key", {
        headers: { authorization: `Bearer ${COUNTED_TWICE_KEY}` },
      });
      const { usage }: { usage: { today: { total_tokens: number } } } = JSON.parse(await response.text());
      return usage.today.total_tokens;
    };
    await until(used, (tokens) => tokens > 0);
    await counted.batches.retrieve(id);
    // Usage is a few seconds old at most; both requests end within the same milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await used()).toBe(500_000);
  });

  it("can be read, with their results, by a key whose budget they used up", async () => {
    const spent = client(BUDGET_KEY);
    const input = await upload(spent);
    const { id } = await create(input.id, spent);
    complete({ input_tokens: 300_000, output_tokens: 200_000, total_tokens: 500_000 });
    await spent.batches.retrieve(id);
    const another = () =>
      create(input.id, spent).then(
        ({ status }) => status,
        ({ status }) => status,
      );
    await until(another, (status) => status === 429);
    const done = await spent.batches.retrieve(id);
    expect(await (await spent.files.content(done.output_file_id ?? "")).text()).toBe(RESULTS);
    expect(await spent.files.delete(done.output_file_id ?? "")).toMatchObject({ deleted: true });
    expect(await spent.batches.cancel(id)).toMatchObject({ id });
  });

  it("refuse a body without an input file, and a provider without batches", async () => {
    const post = (body: object) => running.post("/v1/batches", body);
    expect((await post({ endpoint: "/v1/chat/completions" })).status).toBe(400);
    expect((await post({ input_file_id: 7 })).status).toBe(400);
    const file = await upload();
    vendor.script = (request) =>
      request.path === "/v1/batches" ? json({ detail: "Not Found" }, 404) : answer(request);
    await expect(create(file.id)).rejects.toMatchObject({ status: 501 });
  });

  it("quote the provider's refusal", async () => {
    const file = await upload();
    const error = {
      message: "Bad window.",
      type: "invalid_request_error",
      code: "bad",
      param: "completion_window",
    };
    vendor.script = () => json({ error }, 400);
    await expect(create(file.id)).rejects.toMatchObject({
      status: 400,
      message: "400 Bad window.",
      code: "bad",
    });
  });

  it("work with Azure's SDK", async () => {
    const azure = new AzureOpenAI({
      apiKey: DEV_KEY,
      endpoint: running.gateway.url,
      apiVersion: "2025-04-01-preview",
      maxRetries: 0,
    });
    const { id } = await create((await upload()).id);
    expect(await azure.batches.retrieve(id)).toMatchObject({ id });
  });
});
