import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
import { RUNTIME } from "./runtime.ts";
import { until } from "./until.ts";

/**
 * The stored state of an earlier build: what a deployment has on its disk when it is upgraded. `node test/support/saved-state.ts` saves it
 * with the present build (with `RUNTIME=deno` for Deno). A saved state is not renewed: later builds must go on reading it.
 */
export interface SavedState {
  /** When it was saved, in ms since 1970. */
  readonly savedAt: number;
  /** Every file of the storage folder, by its path there, in base64. */
  readonly files: Readonly<Record<string, string>>;
  /** The answers of the build that saved the state, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The stored response that a client continues. */
  readonly responseId: string;
}

const FILE = join(import.meta.dirname, `../fixtures/saved-state/${RUNTIME}.json.gz`);

/** Variables of the deployment whose state is saved. */
export const SAVED_OPTIONS: GatewayOptions = { evictable: true };

const ADMIN = { authorization: "Bearer admin" };
const KEY = "sk-of-the-saved-state";

const PATHS = [
  "/admin/config",
  "/admin/config/versions",
  "/admin/keys",
  "/admin/providers",
  "/admin/proxies",
  "/admin/settings",
  "/admin/audit",
  "/admin/chat-history",
  "/admin/dev/captures",
  "/admin/dev/raw-samples",
  "/admin/usage?granularity=total",
] as const;

/** What changes from one build or start to the next. */
const PASSING: ReadonlySet<string> = new Set([
  "build",
  "uptime_seconds",
  "now",
  "from",
  "to",
  "generated_at",
]);

function withoutPassing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPassing);
  if (typeof value === "string") return value.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1");
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !PASSING.has(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutPassing(inner)]));
}

const json = async (gateway: Gateway, path: string, headers = ADMIN): Promise<unknown> => {
  const answer = await gateway.fetch(path, { headers });
  return { status: answer.status, body: withoutPassing(await answer.json()) };
};

/** The answers of paths: those of the admin API with the admin key, others with the caller's own key. */
export async function readAnswers(
  gateway: Gateway,
  paths: readonly string[],
): Promise<Record<string, unknown>> {
  const own = { authorization: `Bearer ${KEY}` };
  const answers: Record<string, unknown> = {};
  for (const path of paths) {
    answers[path] = await json(gateway, path, path.startsWith("/admin") ? ADMIN : own);
  }
  return answers;
}

/** Writes the files of a saved state into a new folder. */
export async function restoreState(): Promise<{ readonly state: SavedState; readonly folder: string }> {
  const state: SavedState = JSON.parse(gunzipSync(await readFile(FILE)).toString());
  const folder = await mkdtemp(join(tmpdir(), "polygate-saved-"));
  for (const [path, content] of Object.entries(state.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), Buffer.from(content, "base64"));
  }
  return { state, folder };
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path)] = (await readFile(path)).toString("base64");
  }
  return files;
}

async function post(gateway: Gateway, method: string, path: string, body: unknown, key: string) {
  const answer = await gateway.fetch(path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return Object(JSON.parse(text));
}

/** Does what a deployment does in its life, so that each store holds something. Returns the paths of what came of it. */
async function live(gateway: Gateway): Promise<{ readonly paths: string[]; readonly responseId: string }> {
  const admin = (method: string, path: string, body: unknown) => post(gateway, method, path, body, "admin");
  await admin("POST", "/admin/keys", {
    key: KEY,
    name: "saved",
    limits: { tokens_per_day: 100_000, cost_per_day: 5 },
  });
  await admin("POST", "/admin/providers", {
    id: "earlier",
    driver: "messages",
    base_url: "https://models.example.com",
    token: "token-of-the-earlier-provider",
    models: { large: {} },
  });
  await admin("POST", "/admin/accounts", { email: "further@sandbox.test", password: "sandbox" });
  await admin("PUT", "/admin/settings", {
    captures: { enabled: true },
    model_aliases: { "my-model": "provider-v4-flash" },
  });
  await admin("POST", "/admin/proxies", { id: "exit", type: "http", host: "proxy.example.com", port: 8080 });
  const chat = { model: "my-model", messages: [{ role: "user", content: "[[say:From the earlier build]]" }] };
  await post(gateway, "POST", "/v1/chat/completions", chat, KEY);
  const response = await post(
    gateway,
    "POST",
    "/v1/responses",
    { model: "my-model", input: "[[say:Kept]]" },
    KEY,
  );
  const form = new FormData();
  form.append("purpose", "assistants");
  form.append("file", new File(["text of the file"], "notes.txt", { type: "text/plain" }));
  const upload = await gateway.fetch("/v1/files", {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: form,
  });
  await upload.text();
  const history = await until(
    async () => Object(Object(await json(gateway, "/admin/chat-history")).body),
    ({ items }) =>
      items?.length === 2 && items.every(({ status }: { status: string }) => status === "success"),
  );
  await until(
    async () => Object(Object(await json(gateway, "/admin/usage?granularity=total")).body),
    ({ totals }) => totals?.requests === 3,
  );
  const records = history.items.map(({ id }: { id: string }) => `/admin/chat-history/${id}`);
  return {
    paths: [...records, `/v1/responses/${response.id}`],
    responseId: String(response.id),
  };
}

/** Saves the state of a deployment of the present build. */
async function saveState(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "polygate-saved-"));
  const options = { ...SAVED_OPTIONS, dataFolder: folder };
  const first = await startGateway(options);
  const { paths, responseId } = await live(first);
  await first.close();
  const second = await startGateway(options);
  const savedAt = Date.now();
  const answers = await readAnswers(second, [...PATHS, ...paths]);
  await second.close();
  const state: SavedState = { savedAt, files: await filesOf(folder), answers, responseId };
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(FILE, gzipSync(JSON.stringify(state), { level: 9 }));
  await rm(folder, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await saveState();
