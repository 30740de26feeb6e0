import { describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

const { admin, chat } = useAdmin();

describe("50 simultaneous edits of different things", () => {
  it("are all stored", async () => {
    const { body } = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    const token = String(body["token"]);
    const settings: Record<string, unknown>[] = [
      { admin: { jwt_expire_hours: 11 } },
      { runtime: { account_max_inflight: 12 } },
      { runtime: { account_max_queue: 13 } },
      { runtime: { global_max_inflight: 14 } },
      { runtime: { token_refresh_interval_hours: 15 } },
      { responses: { store_ttl_seconds: 16 } },
      { auto_delete: { mode: "single" } },
      { current_input_file: { min_chars: 17 } },
      { current_input_file: { enabled: false } },
      { thinking_injection: { prompt: "eighteen" } },
    ];
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const edits = [
      ...settings.map((change) => admin("PUT", "/admin/settings", change, token)),
      ...numbers.map((n) =>
        n % 4 === 0
          ? admin("POST", "/admin/keys", { key: `sk-edit-${n}` }, token)
          : n % 4 === 1
            ? admin("POST", "/admin/accounts", { email: `edit${n}@sandbox.test`, password: "sandbox" }, token)
            : n % 4 === 2
              ? admin("POST", "/admin/proxies", { id: `p${n}`, type: "http", host: "h", port: 1 }, token)
              : admin(
                  "POST",
                  "/admin/config/import",
                  { model_aliases: { [`m${n}`]: "provider-v4-pro" } },
                  token,
                ),
      ),
    ];
    expect(edits).toHaveLength(50);
    const answers = await Promise.all(edits);
    expect(answers.map(({ status }) => status)).toEqual(edits.map(() => 200));

    const { config } = Object((await admin("GET", "/admin/config/export")).body);
    expect(config).toMatchObject(
      Object.assign({}, ...settings, {
        runtime: {
          account_max_inflight: 12,
          account_max_queue: 13,
          global_max_inflight: 14,
          token_refresh_interval_hours: 15,
        },
        current_input_file: { min_chars: 17, enabled: false },
      }),
    );
    const names = JSON.stringify(config);
    for (const n of numbers) {
      const name = [`"sk-edit-${n}"`, `"edit${n}@sandbox.test"`, `"p${n}"`, `"m${n}"`][n % 4];
      expect(names, name).toContain(name);
    }
  });
});

describe("5,000 accounts", () => {
  const MANY = 5_000;
  /** As long as real ones are. */
  const token = (index: number) => `eyJhbGciOiJIUzI1NiJ9.${"t".repeat(600)}.${index}`;

  it("are imported, listed, searched, edited and counted", async () => {
    const accounts = Array.from({ length: MANY }, (_, index) =>
      index % 2 === 0
        ? {
            email: `user${index}@sandbox.test`,
            password: "sandbox",
            token: index % 4 === 0 ? token(index) : "",
          }
        : { token: token(index) },
    );
    const imported = await admin("POST", "/admin/config/import?mode=replace", {
      api_keys: [{ key: "sk-dev" }],
      accounts,
    });
    expect(imported).toMatchObject({ status: 200, body: { total_accounts: MANY } });

    const get = async (path: string) => {
      const answer = await admin("GET", path);
      expect(answer.status).toBe(200);
      return Object(answer.body);
    };
    expect((await get("/admin/accounts?page=400")).items).toHaveLength(10);
    const found = await get("/admin/accounts?q=user4998");
    expect(found.items).toMatchObject([{ identifier: "user4998@sandbox.test" }]);
    const all = await get("/admin/accounts?page_size=5000");
    expect(all.items).toHaveLength(MANY);
    expect(await get("/admin/queue/status")).toMatchObject({ total: MANY, available: MANY });
    const compact = await admin("GET", "/admin/queue/status?most=24");
    expect(compact.body).toMatchObject({ total: MANY, available: MANY, cooling: 0 });
    expect(JSON.stringify(compact.body).length).toBeLessThan(5_000);

    const last = all.items[MANY - 1].identifier;
    expect(last).toMatch(/^token:/);
    const renamed = await admin("PUT", `/admin/accounts/${last}`, { name: "the last" });
    expect(renamed.status).toBe(200);
    expect((await get("/admin/accounts?page=500")).items[9].name).toBe("the last");
    expect((await chat("hi", {}, { "x-gateway-target-account": "user4998@sandbox.test" })).status).toBe(200);
  });
});
