import { afterAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Teams, users and tags: limits that many keys share. */

const running = useAdmin({ vars: { ACCOUNT_MAX_INFLIGHT: "64" } });
const { admin, fetch } = running;

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** A provider that counts its requests. */
let served = 0;
const backend = await serve((request, response) => {
  request.resume();
  request.on("end", () => {
    served += 1;
    response.writeHead(200, { "content-type": "application/json" });
    const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];
    response.end(JSON.stringify({ id: "x", object: "chat.completion", model: "m", choices, usage: USAGE }));
  });
});
afterAll(() => backend.close());

const addProvider = (id: string, more: Record<string, unknown> = {}) =>
  admin("POST", "/admin/providers", {
    ...{ id, driver: "openai", base_url: `${backend.origin}/v1`, token: "secret-token-of-it" },
    ...{ models: { m: {}, n: {} }, ...more },
  });

async function addKey(settings: Record<string, unknown> = {}): Promise<string> {
  const { body, status } = await admin("POST", "/admin/keys", settings);
  expect([status, body]).toMatchObject([200, { success: true }]);
  return String(body["key"]);
}

const chat = (key: string, model: string, more: Record<string, unknown> = {}, headers = {}) =>
  fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], ...more }),
  });

const LIMIT = { requests_per_minute: 100 };

describe("200 requests at once for a limit of 100", () => {
  it.each([
    {
      kind: "team",
      prepare: async () => {
        await admin("POST", "/admin/teams", { id: "core", limits: LIMIT });
        return [await addKey({ team: "core" }), await addKey({ team: "core" })];
      },
    },
    {
      kind: "user",
      prepare: async () => {
        await admin("POST", "/admin/users", { id: "ada@example.com", limits: LIMIT });
        return [await addKey({ user: "ada@example.com" }), await addKey({ user: "ada@example.com" })];
      },
    },
    {
      kind: "tag",
      more: { metadata: { tags: "batch, other" } },
      headers: { "x-gateway-tags": "nightly" },
      prepare: async () => {
        await admin("POST", "/admin/tags", { id: "batch", limits: LIMIT });
        return [await addKey(), await addKey()];
      },
    },
    {
      kind: "provider",
      prepare: async () => {
        await admin("PUT", "/admin/providers/provider-one", { limits: LIMIT });
        return [await addKey(), await addKey()];
      },
    },
  ])("of a $kind leave 100 of them, and the sums are those of the answers", async (entry) => {
    const { kind, prepare, more, headers } = entry;
    const provider = `${kind}-one`;
    await addProvider(provider);
    const keys = await prepare();
    served = 0;
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const answer = await chat(keys[index % 2] ?? "", `${provider}/m`, more, headers);
        return { status: answer.status, body: JSON.parse(await answer.text()) };
      }),
    );
    const succeeded = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    const others = answers.filter(({ status }) => status !== 200 && status !== 429);
    expect(others).toEqual([]);
    expect([succeeded.length, refused.length, served]).toEqual([100, 100, 100]);
    expect(refused[0]?.body.error).toMatchObject({ code: "rate_limit_exceeded" });
    expect(refused[0]?.body.error.message).toContain(`the ${kind} "`);
    const id = { team: "core", user: "ada@example.com", tag: "batch", provider }[kind];
    const { items } = await until(
      async () => (await admin("GET", `/admin/usage?granularity=total&group_by=${kind}&${kind}=${id}`)).body,
      ({ items: groups }) =>
        Array.isArray(groups) && groups.some((group) => group[kind] === id && group.succeeded === 100),
    );
    expect(items).toContainEqual(
      expect.objectContaining({ [kind]: id, requests: 200, total_tokens: 1_000, refused: 100 }),
    );
    const { body: tagged } = await admin("GET", `/admin/usage?granularity=total&${kind}=${id}`);
    expect(tagged["totals"]).toMatchObject({ requests: 200, prompt_tokens: 700, completion_tokens: 300 });
    if (kind !== "provider") {
      const { body: view } = await admin("GET", `/admin/${kind}s/${id}`);
      expect(view["used"]).toMatchObject({ requests_per_minute: 100, tokens_per_day: 1_000, parallel: 0 });
    }
  });
});

describe("limits of a provider", () => {
  it("let a route continue with another provider, for which the request counts", async () => {
    await addProvider("first", { limits: { requests_per_minute: 1, tokens_per_day: 1_000_000 } });
    await addProvider("second", { limits: { requests_per_minute: 50 } });
    const { body: settings } = await admin("PUT", "/admin/settings", {
      model_routes: { both: ["first/m", "second/m"] },
    });
    expect(settings).toMatchObject({ success: true });
    const key = await addKey();
    const providers: (string | null)[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await chat(key, "both", { messages: [{ role: "user", content: `turn ${turn}` }] });
      expect(answer.status).toBe(200);
      await answer.text();
      providers.push(answer.headers.get("x-gateway-provider"));
    }
    expect(providers).toEqual(["first", "second", "second"]);
  });

  it("hold for the provider of the variables, as a setting", async () => {
    const setLimits = async (limits: Record<string, number>) => {
      const { body } = await admin("PUT", "/admin/settings", { default_provider: { limits } });
      expect(body).toMatchObject({ success: true, default_provider: { limits, cache: {} } });
    };
    await setLimits({ requests_per_minute: 2 });
    const { body: view } = await admin("GET", "/admin/providers/default");
    expect(view).toMatchObject({ limits: { requests_per_minute: 2 }, cache: {}, read_only: true });
    const misspelt = await admin("PUT", "/admin/settings", { default_provider: { limits: { request: 1 } } });
    expect(misspelt.status).toBe(400);
    await addProvider("other", {});
    await admin("PUT", "/admin/settings", { model_routes: { spare: ["provider-v4-flash", "other/m"] } });
    const keys = [await addKey(), await addKey()];
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const answer = await chat(keys[index % 2] ?? "", "provider-v4-flash");
        return { status: answer.status, text: await answer.text() };
      }),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([2, 4]);
    expect(JSON.parse(refused[0]?.text ?? "")).toMatchObject({
      error: { code: "rate_limit_exceeded", details: { subject: { kind: "provider", id: "default" } } },
    });
    const routed = await chat(keys[0] ?? "", "spare");
    expect([routed.status, routed.headers.get("x-gateway-provider")]).toEqual([200, "other"]);
    await routed.text();
    await setLimits({});
    expect((await chat(keys[0] ?? "", "provider-v4-flash")).status).toBe(200);
  });
});

describe("a team, a user and tags", () => {
  it("allow only the models that all of their lists contain", async () => {
    await addProvider("allowed");
    await admin("POST", "/admin/teams", { id: "narrow", models: ["allowed/m"] });
    await admin("POST", "/admin/tags", { id: "none", models: ["allowed/n"] });
    const key = await addKey({ team: "narrow" });
    const statusOf = async (model: string, headers = {}) => {
      const answer = await chat(key, model, {}, headers);
      return [answer.status, await answer.text()] as const;
    };
    expect((await statusOf("allowed/m"))[0]).toBe(200);
    const [status, text] = await statusOf("allowed/n");
    expect(status).toBe(403);
    expect(text).toContain('the team \\"narrow\\" may not use the model');
    expect((await statusOf("allowed/m", { "x-gateway-tags": "none" }))[0]).toBe(403);
    const own = await fetch("/v1/key", { headers: { authorization: `Bearer ${key}` } });
    const view: unknown = await own.json();
    expect(view).toMatchObject({ team: { id: "narrow", models: ["allowed/m"] }, user: null });
  });

  it("let a key name only tags that its own list and those of its team and user allow", async () => {
    await addProvider("tagged");
    await admin("POST", "/admin/teams", { id: "tagging", allowed_tags: ["batch", "project-*"] });
    const key = await addKey({ team: "tagging", allowed_tags: ["project-*", "other"] });
    const statusOf = async (tags: string) => {
      const answer = await chat(key, "tagged/m", {}, { "x-gateway-tags": tags });
      return [answer.status, await answer.text()] as const;
    };
    expect((await statusOf("project-a,project-b"))[0]).toBe(200);
    const [status, text] = await statusOf("project-a,other");
    expect(status).toBe(403);
    expect(text).toContain('the team \\"tagging\\" may not use the tag \\"other\\"');
    expect((await statusOf("batch"))[1]).toContain("this API key may not use the tag");
    // Other programs use this member: what is not allowed is ignored, with the tag's limits and models.
    await admin("POST", "/admin/tags", { id: "closed", models: ["tagged/n"] });
    expect((await chat(key, "tagged/m", { metadata: { tags: ["closed"] } })).status).toBe(200);
    expect((await admin("PUT", "/admin/tags/closed", { allowed_tags: ["x"] })).status).toBe(400);
    expect((await admin("PUT", "/admin/teams/tagging", { allowed_tags: [] })).body).toMatchObject({
      allowed_tags: [],
    });
    expect((await statusOf("other"))[0]).toBe(200);
  });

  it("are refused if a tag is invalid, and the error names the header", async () => {
    const key = await addKey();
    for (const tags of ["a b", "x".repeat(65), Array.from({ length: 11 }, (_, n) => `t${n}`).join()]) {
      const answer = await chat(key, "team-one/m", {}, { "x-gateway-tags": tags });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("x-gateway-tags");
    }
    // Other programs use this member, so what is no tag is no fault.
    expect((await chat(key, "team-one/m", { metadata: { tags: ["a b", 7, "fine"] } })).status).toBe(200);
  });

  it("cannot be deleted while keys belong to them, and keys cannot name others", async () => {
    await admin("POST", "/admin/teams", { id: "leaving", name: "Leaving" });
    const key = await addKey({ team: "leaving", name: "member" });
    expect(await admin("DELETE", "/admin/teams/leaving")).toMatchObject({
      status: 409,
      body: { detail: '1 key belongs to the team "leaving": move or delete them first' },
    });
    expect((await admin("POST", "/admin/keys", { team: "unheard-of" })).status).toBe(400);
    const { body: read } = await admin("GET", "/admin/teams/leaving");
    expect(read).toMatchObject({ keys: 1, name: "Leaving", limits: {} });
    expect((await admin("PUT", `/admin/keys/${key}`, { team: "" })).status).toBe(200);
    expect(await admin("DELETE", "/admin/teams/leaving")).toMatchObject({ status: 200 });
    expect((await admin("GET", "/admin/teams/leaving")).status).toBe(404);
  });

  it("are edited with the version of the entry, and come with exports and imports", async () => {
    await admin("POST", "/admin/users", { id: "grace", limits: { max_parallel: 3 } });
    expect((await admin("POST", "/admin/users", { id: "grace" })).status).toBe(409);
    expect((await admin("POST", "/admin/users", { id: "a,b" })).status).toBe(400);
    expect((await admin("POST", "/admin/users", { id: "x", limits: { request_per_minute: 1 } })).status).toBe(
      400,
    );
    const read = await fetch("/admin/users/grace", { headers: { authorization: "Bearer admin" } });
    const edit = (limits: Record<string, number>) =>
      fetch("/admin/users/grace", {
        method: "PUT",
        headers: {
          authorization: "Bearer admin",
          "content-type": "application/json",
          "if-match": read.headers.get("etag") ?? "",
        },
        body: JSON.stringify({ limits }),
      });
    expect((await edit({ max_parallel: 4 })).status).toBe(200);
    expect((await edit({ max_parallel: 5 })).status).toBe(412);
    const { body: exported } = await admin("GET", "/admin/config/export");
    expect(exported["config"]).toMatchObject({
      users: expect.arrayContaining([
        expect.objectContaining({ id: "grace", name: "", remark: "", limits: { max_parallel: 4 } }),
      ]),
    });
    await admin("POST", "/admin/config/import", {
      teams: [{ id: "imported", limits: { tokens_per_day: 5 } }],
      users: [{ id: "grace", name: "Grace" }],
    });
    expect((await admin("GET", "/admin/teams/imported")).body).toMatchObject({
      limits: { tokens_per_day: 5 },
    });
    expect((await admin("GET", "/admin/users/grace")).body).toMatchObject({
      name: "Grace",
      limits: { max_parallel: 4 },
    });
  });

  it("have metrics with labels of the configuration alone", async () => {
    const text = await until(
      async () => (await fetch("/admin/metrics", { headers: { authorization: "Bearer admin" } })).text(),
      (metrics) => metrics.includes('polygate_group_requests_total{kind="team",id="core"} 200'),
    );
    expect(text).toContain('polygate_group_tokens_total{kind="tag",id="batch"} 1000');
    expect(text).not.toContain('id="nightly"');
  });
});
