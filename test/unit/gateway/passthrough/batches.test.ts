import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../../../src/core/encoding/hash.ts";
import type { FileRecord } from "../../../../src/core/ports/files.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Batches at a provider: their ids belong to the caller, and the input file names the account. */

const OTHER_KEY = "sk-other";
const LIMITED_KEY = "sk-limited";
const EMAILS = ["one@vendor.test", "two@vendor.test"] as const;

const createGateway = useMemoryGateway();

const missing: Reply = { status: 404, json: { error: { message: "No such batch.", code: null } } };

/** The batches of a vendor, by their ids there. */
class Vendor {
  readonly batches = new Map<string, { readonly token: string; readonly batch: Record<string, unknown> }>();
  /** Answers instead of everything else. */
  instead: Reply | null = null;

  readonly answer = (asked: UpstreamRequest): Reply => {
    const { method, path, token } = asked;
    const [, , resource, id, action] = path.split("/");
    if (this.instead !== null) return this.instead;
    if (resource !== "batches") return missing;
    if (method === "POST" && id === undefined) {
      const batch = { id: `batch_vendor_${this.batches.size}`, object: "batch", status: "in_progress" };
      this.batches.set(batch.id, { token, batch: { ...batch, ...asked.json() } });
      return { json: { ...batch, ...asked.json() } };
    }
    const found = this.batches.get(id ?? "");
    if (found?.token !== token) return missing;
    if (action === "cancel") found.batch["status"] = "cancelling";
    return { json: found.batch };
  };

  /** The batch that was created last. */
  get last() {
    const last = [...this.batches.values()].at(-1);
    if (last === undefined) throw new Error("the vendor has no batch");
    return last;
  }
}

let vendor: Vendor;
let gateway: MemoryGateway;

beforeEach(async () => {
  vendor = new Vendor();
  gateway = await createGateway({
    upstream: new ScriptedUpstream(vendor.answer),
    config: {
      keys: [KEY, OTHER_KEY],
      api_keys: [{ id: "limited", key: LIMITED_KEY, models: ["oa/mine"] }],
      callers: { unknown_keys: "refuse" },
      accounts: EMAILS.map((email, index) => ({ token: `sk-${index}`, email, provider: "oa" })),
      providers: [
        { id: "oa", driver: "openai", base_url: "http://vendor.test/v1", token: "", models: { mine: "m" } },
        { id: "claude", driver: "anthropic", base_url: "http://claude.test", token: "sk-c" },
      ],
    },
  });
  for (const [index, account] of EMAILS.entries())
    await keepFile({ id: `file-${index}`, account, provider: "oa" });
  await keepFile({ id: "file-claude", account: "", provider: "claude" });
});

async function keepFile(file: Pick<FileRecord, "id" | "account"> & Partial<FileRecord>): Promise<void> {
  const record: FileRecord = {
    upstreamId: `${file.id}-there`,
    filename: "lines.jsonl",
    mediaType: "application/jsonl",
    purpose: "batch",
    bytes: 5,
    createdAt: 1_800_000_000,
    expiresAt: 1_900_000_000_000,
    ...file,
  };
  await gateway.platform.files(await sha256Hex(KEY), 0).put(record);
}

/** Sends a request. Returns the status and the body. */
async function ask(
  method: string,
  path: string,
  { key = KEY, body = null }: { readonly key?: string; readonly body?: string | null } = {},
): Promise<[number, Record<string, unknown>]> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await gateway.request(`/v1/batches${path}`, {
    method,
    headers,
    ...(body !== null && { body }),
  });
  const answer: Record<string, unknown> = JSON.parse(await response.text());
  return [response.status, answer];
}

const create = (file: unknown, key?: string) =>
  ask("POST", "", {
    body: JSON.stringify({ input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" }),
    ...(key !== undefined && { key }),
  });

async function created(file = "file-0"): Promise<string> {
  const [status, { id }] = await create(file);
  expect([status, typeof id]).toEqual([200, "string"]);
  return String(id);
}

describe("a batch", () => {
  test.each([
    [0, "sk-0"],
    [1, "sk-1"],
  ])("is created at the account of its input file, and read there: %i", async (index, token) => {
    const [, batch] = await create(`file-${index}`);
    expect(batch).toMatchObject({ status: "in_progress", input_file_id: `file-${index}` });
    expect(batch["id"]).toMatch(/^batch_[\da-f]{32}$/);
    expect(vendor.last).toMatchObject({ token, batch: { input_file_id: `file-${index}-there` } });
    expect(await ask("GET", `/${batch["id"]}`)).toEqual([200, batch]);
  });

  test("has result files of the caller, always with the same ids", async () => {
    const id = await created();
    Object.assign(vendor.last.batch, { status: "completed", output_file_id: "out", error_file_id: "err" });
    const [, done] = await ask("GET", `/${id}`);
    expect(done["output_file_id"]).toMatch(/^file-[\da-f]{32}$/);
    expect(done["error_file_id"]).not.toBe(done["output_file_id"]);
    expect(await ask("GET", `/${id}`)).toEqual([200, done]);
    const files = gateway.platform.files(await sha256Hex(KEY), 0);
    expect(await files.get(String(done["output_file_id"]))).toMatchObject({
      upstreamId: "out",
      account: EMAILS[0],
      purpose: "batch_output",
      filename: `${id}_output.jsonl`,
    });
  });

  test("can be cancelled, and is listed in its last known state, the newest first", async () => {
    const [first, second] = [await created(), await created("file-1")];
    expect(await ask("POST", `/${second}/cancel`)).toMatchObject([200, { id: second, status: "cancelling" }]);
    const [, page] = await ask("GET", "?limit=1");
    expect(page).toMatchObject({ data: [{ id: second, status: "cancelling" }], has_more: true });
    const [, next] = await ask("GET", `?limit=1&after=${second}`);
    expect(next).toMatchObject({ data: [{ id: first, status: "in_progress" }], has_more: false });
  });

  test("of another caller is unknown, as is its file, and the provider is not asked", async () => {
    const id = await created();
    const calls = gateway.upstream.asked.length;
    const refusals = [
      await ask("GET", `/${id}`, { key: OTHER_KEY }),
      await ask("POST", `/${id}/cancel`, { key: OTHER_KEY }),
      await ask("GET", `?after=${id}`, { key: OTHER_KEY }),
      await create("file-0", OTHER_KEY),
      await ask("GET", `/${vendor.last.batch["id"]}`),
      await ask("GET", "/batch_nothing"),
      await create("file-0-there"),
    ];
    expect(refusals.map(([status]) => status)).toEqual(refusals.map(() => 404));
    expect(await ask("GET", "", { key: OTHER_KEY })).toMatchObject([200, { data: [], first_id: null }]);
    expect(gateway.upstream.asked).toHaveLength(calls);
  });

  test("that the provider no longer has is a 404", async () => {
    const id = await created();
    vendor.batches.clear();
    expect(await ask("GET", `/${id}`)).toMatchObject([404, { error: { code: "not_found" } }]);
  });

  test.each([
    ["a key of certain models, because its lines name the models", "file-0", LIMITED_KEY, 403],
    ["a file that is no text", 7, KEY, 400],
    ["no file", "", KEY, 400],
    ["a provider without batches", "file-claude", KEY, 501],
  ])("with %s is refused", async (_, file, key, status) => {
    expect((await create(file, key))[0]).toBe(status);
    expect(vendor.batches.size).toBe(0);
  });

  test.each(["Input_File_Id", "INPUT_FILE_ID"])(
    "whose body names its file a second time, in another case, is refused: %s",
    async (name) => {
      const body = `{"input_file_id":"file-0",${JSON.stringify(name)}:"file-1-there"}`;
      expect((await ask("POST", "", { body }))[0]).toBe(400);
      expect(vendor.batches.size).toBe(0);
    },
  );

  test("is unknown after its account was deleted, as is its file", async () => {
    const id = await created();
    const { config } = await gateway.platform.configuration.read();
    await gateway.platform.configuration.update((current) => ({
      ...current,
      accounts: config.accounts.filter(({ email }) => email !== EMAILS[0]),
    }));
    expect((await ask("GET", `/${id}`))[0]).toBe(404);
    expect((await create("file-0"))[0]).toBe(404);
  });

  test("counts the provider's tokens once", async () => {
    const id = await created();
    const stated = [10, 10, 300, 300];
    for (const input_tokens of stated) {
      Object.assign(vendor.last.batch, { model: "m", usage: { input_tokens, output_tokens: 0 } });
      await ask("GET", `/${id}`);
    }
    await gateway.settle();
    const counted = gateway.lines.slice(-stated.length).map(({ prompt_tokens = 0 }) => prompt_tokens);
    expect(counted).toEqual([10, 0, 290, 0]);
    expect(gateway.lines.at(-2)).toMatchObject({ operation: "batches", model: "oa/m", provider: "oa" });
  });

  test("counts no more tokens than batches can have", async () => {
    const id = await created();
    Object.assign(vendor.last.batch, { usage: { input_tokens: 1e30, output_tokens: 5 } });
    await ask("GET", `/${id}`);
    await gateway.settle();
    expect(gateway.lines.at(-1)).toMatchObject({ operation: "batches", usage_refused: true });
    expect(gateway.lines.at(-1)).not.toHaveProperty("prompt_tokens");
  });

  test("quotes the provider's refusal", async () => {
    vendor.instead = {
      status: 400,
      json: { error: { message: "Bad window.", code: "bad", param: "completion_window" } },
    };
    expect(await create("file-0")).toMatchObject([400, { error: { message: "Bad window.", code: "bad" } }]);
  });

  test.each([
    ["of an unknown path", { status: 404, json: { detail: "Not Found" } }, 501],
    ["without an id", { json: { object: "batch" } }, 503],
  ])("is an error after an answer %s", async (_, answer, status) => {
    vendor.instead = answer;
    expect((await create("file-0"))[0]).toBe(status);
    expect(await ask("GET", "")).toMatchObject([200, { data: [] }]);
  });
});
