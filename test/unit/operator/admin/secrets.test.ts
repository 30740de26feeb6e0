import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { handleRequest } from "../../../../src/app.ts";
import type { Config } from "../../../../src/core/config/schema.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import { ADMIN_ENDPOINTS } from "../../../../src/operator/admin/index.ts";
import { type MemoryPlatformOptions, memoryPlatform } from "../../../support/memory-platform.ts";
import { plantedConfigs } from "../../../support/planted-config.ts";
import "../../../support/route-groups.ts";

vi.setConfig({ testTimeout: 120_000 });

/** The log lines so far. */
const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  // What waits for a time limit does so on the test's clock; what is left of it ends with the test.
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  vi.spyOn(console, "log").mockImplementation((line: unknown) => lines.push(String(line)));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ADMIN_KEY = "the-admin-key-of-this-test";
/** The two that hand out the configuration on purpose (docs/contract/admin-configuration.md). */
const EXPORTS = ["/admin/config/export", "/admin/export"];
/** What is asked for without an identifier. */
const READINGS = ADMIN_ENDPOINTS.filter(({ method, access }) => method === "GET" && access === "admin")
  .flatMap(({ paths }) => paths)
  .filter((path) => !path.includes(":") && !EXPORTS.includes(path));

/** Asks the administration, and keeps all that it answers. */
class Ear {
  readonly #platform: Platform;
  readonly heard: { readonly where: string; readonly text: string }[] = [];

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  static async at(options: MemoryPlatformOptions): Promise<Ear> {
    return new Ear(await memoryPlatform({ env: { ADMIN_KEY }, ...options }));
  }

  async ask(method: string, path: string, body?: unknown): Promise<string> {
    const request = new Request(`http://gateway.test${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const waitUntil = (work: Promise<unknown>) => void work.catch(() => undefined);
    let isOver = false;
    const answer = handleRequest(request, {
      platform: this.#platform,
      waitUntil,
      clientAddress: "192.0.2.1",
    }).finally(() => {
      isOver = true;
    });
    for (let turn = 1; !isOver; turn += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (turn % 1_000 === 0) await vi.advanceTimersByTimeAsync(1_000);
    }
    const response = await answer;
    const text = await response.text();
    this.heard.push({ where: `${method} ${path} (${response.status})`, text });
    return text;
  }

  /** The same of what has to succeed. */
  async done(method: string, path: string, body?: unknown): Promise<string> {
    const text = await this.ask(method, path, body);
    const { where } = this.heard.at(-1) ?? {};
    expect([where, text]).toEqual([expect.stringContaining("(200)"), text]);
    return text;
  }

  async readAll(): Promise<void> {
    for (const path of READINGS) await this.ask("GET", path);
    await this.done("GET", "/admin/audit?page_size=1000");
  }
}

/** Adds, changes and deletes what a configuration has one by one. */
async function editAll(ear: Ear, { providers, api_keys, accounts, proxies, alerts }: Config): Promise<void> {
  for (const { id, name, driver, base_url, token, headers } of providers) {
    await ear.done("POST", "/admin/providers", { id, name, driver, base_url, token, headers });
    await ear.done("PUT", `/admin/providers/${id}`, {
      headers: { "X-Other": headers["Authorization"] ?? "" },
    });
    await ear.done("GET", `/admin/providers/${id}`);
    await ear.done("DELETE", `/admin/providers/${id}`);
  }
  for (const { key, id } of api_keys) {
    await ear.done("POST", "/admin/keys", { key, id });
    await ear.done("PUT", `/admin/keys/${id}`, { name: "other" });
    await ear.done("GET", `/admin/keys/${id}`);
    await ear.done("DELETE", `/admin/keys/${id}`);
  }
  for (const { email, password, token } of accounts) {
    await ear.done("POST", "/admin/accounts", { email, password, token });
    await ear.done("PUT", `/admin/accounts/${email}`, { password: `${password}2`, token: `${token}2` });
    await ear.done("GET", `/admin/accounts/${email}`);
    await ear.done("DELETE", `/admin/accounts/${email}`);
  }
  for (const { email, auth } of accounts) {
    await ear.done("POST", "/admin/accounts", { email, auth });
    await ear.done("PUT", `/admin/accounts/${email}`, { auth, remark: "other" });
    await ear.done("GET", `/admin/accounts/${email}`);
    await ear.done("DELETE", `/admin/accounts/${email}`);
  }
  for (const proxy of proxies) {
    await ear.done("POST", "/admin/proxies", proxy);
    await ear.done("GET", `/admin/proxies/${proxy.id}`);
    await ear.done("DELETE", `/admin/proxies/${proxy.id}`);
  }
  await ear.done("PUT", "/admin/alerts", { webhooks: alerts.webhooks });
  await ear.done("PUT", "/admin/alerts", { webhooks: [] });
}

it("only the two exports show a secret of the configuration, and no line of the log does", async () => {
  await fc.assert(
    fc.asyncProperty(plantedConfigs, plantedConfigs, plantedConfigs, async (first, second, third) => {
      const ear = await Ear.at({ config: first.config });
      await ear.readAll();
      for (const mode of ["merge", "replace"]) {
        const wrapper = { config: second.config, mode, confirm: true };
        await ear.done("POST", "/admin/config/import?dry_run=true", wrapper);
        await ear.done("POST", "/admin/config/import", wrapper);
      }
      await ear.readAll();
      const { items } = JSON.parse(await ear.done("GET", "/admin/config/versions"));
      const { version } = items.at(-1);
      await ear.done("POST", "/admin/config/restore", { version, dry_run: true });
      await ear.done("POST", "/admin/config/restore", { version });
      await editAll(ear, third.config);
      await ear.readAll();

      const secrets = [first, second, third].flatMap((planted) => planted.secrets);
      const everything = [...ear.heard, { where: "the log", text: lines.join("\n") }];
      for (const { where, text } of everything) {
        expect([where, secrets.filter((secret) => text.includes(secret))]).toEqual([where, []]);
      }
      // The exports hold them: what was looked for is what there is.
      const exported = await ear.ask("GET", "/admin/config/export");
      expect(first.secrets.filter((secret) => exported.includes(secret)).length).toBeGreaterThan(10);
    }),
    // A smaller configuration tells no more, and takes as long again.
    { numRuns: 2, endOnFailure: true },
  );
});

it("a dry run of an import is in the audit log, with its changes", async () => {
  const ear = await Ear.at({});
  const providers = [
    {
      id: "p",
      driver: "openai",
      base_url: "https://p.test",
      headers: { "X-Tenant": "a-secret-tenant-0123456789" },
    },
  ];
  const text = await ear.done("POST", "/admin/config/import?dry_run=true", {
    config: { providers },
    mode: "merge",
  });
  expect(JSON.parse(text)).toMatchObject({
    dry_run: true,
    config: { providers: [{ id: "p", headers: { "X-Tenant": "a-se****6789" } }] },
    changes: [
      { path: "providers[p]", before: null, after: expect.stringContaining('"X-Tenant":"a-se****6789"') },
    ],
    more: 0,
  });
  const audit = JSON.parse(await ear.done("GET", "/admin/audit"));
  expect(audit.items).toMatchObject([
    { action: "POST /admin/config/import", version: 0, changes: [{ path: "dry_run", after: '"merge"' }] },
  ]);
});
