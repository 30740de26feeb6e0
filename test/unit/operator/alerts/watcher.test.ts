import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type * as z from "zod";
import type { configSchema } from "../../../../src/core/config/schema.ts";
import { alertRulesSchema, type Webhook } from "../../../../src/core/config/schemas/alert-schema.ts";
import type { ApiKey } from "../../../../src/core/config/schemas/key-schema.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import { errorTotals } from "../../../../src/operator/alerts/error-rate.ts";
import { type AlertInputs, evaluateRules } from "../../../../src/operator/alerts/evaluate-rules.ts";
import { Watcher, type WatchState } from "../../../../src/operator/alerts/watcher.ts";
import { failure } from "../../../support/failures.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";

const SECRET = `whsec_${Buffer.from("a secret of 32 bytes for a test.").toString("base64")}`;
const HOOK = {
  id: "ops",
  url: "https://hooks.example.com/T0/secret",
  format: "json" as const,
  secret: SECRET,
};

interface Sent {
  readonly url: string;
  readonly body: string;
  readonly headers: Headers;
  readonly redirect: string | undefined;
}

/** A deployment whose webhooks answer with the statuses in `answers`. */
class Site {
  platform!: Platform;
  watcher!: Watcher;
  readonly sent: Sent[] = [];
  /** What webhooks answer next; 0: nothing. 200 unless given. */
  readonly answers: number[] = [];
  /** The most messages that one webhook had to take at once. */
  mostAtOnce = 0;
  /** How long webhooks take for an answer, milliseconds. */
  answerMs = 0;
  /** The pause that webhooks ask for in seconds. */
  retryAfter: string | null = null;
  /** Why the state cannot be saved; null: it can. */
  saveError: Error | null = null;
  readonly #running = new Map<string, number>();
  #state: WatchState | null = null;

  async open(config: z.input<typeof configSchema>): Promise<this> {
    const receive = async (url: string, init: RequestInit = {}) => {
      const { headers, body, redirect } = init;
      this.sent.push({ url, body: String(body), headers: new Headers(headers), redirect });
      const status = this.answers.shift() ?? 200;
      const running = (this.#running.get(url) ?? 0) + 1;
      this.#running.set(url, running);
      this.mostAtOnce = Math.max(this.mostAtOnce, running);
      await Promise.resolve();
      vi.setSystemTime(Date.now() + this.answerMs);
      this.#running.set(url, running - 1);
      if (status === 0) throw new TypeError("unreachable");
      return new Response(null, {
        status,
        headers: {
          ...(status === 302 && { location: "http://127.0.0.1/" }),
          ...(this.retryAfter !== null && { "retry-after": this.retryAfter }),
        },
      });
    };
    const isPrivate = (url: string) => /127\.|local/.test(url);
    this.platform = {
      ...(await memoryPlatform({ config })),
      fetch: async (url, init) => {
        if (isPrivate(url)) throw new TypeError("filtered");
        return receive(url, init);
      },
      deploymentFetch: receive,
    };
    this.restart();
    return this;
  }

  restart(): void {
    this.watcher = new Watcher({
      platform: this.platform,
      load: () => this.#state,
      save: (state) => {
        if (this.saveError !== null) throw this.saveError;
        this.#state = structuredClone(state);
      },
    });
  }

  get state(): WatchState | null {
    return this.#state;
  }

  /** Removes from the stored state what earlier versions did not store. */
  forgetRecipients(): void {
    if (this.#state === null) throw new Error("nothing is stored");
    const told = Object.entries(this.#state.told).map(([name, { alert, since, at }]) => [
      name,
      { alert, since, at },
    ]);
    this.#state = { ...this.#state, told: Object.fromEntries(told) };
  }

  /** Lets time pass, with a round every half a minute. */
  async pass(minutes: number): Promise<void> {
    for (let round = 0; round < minutes * 2; round += 1) {
      vi.setSystemTime(Date.now() + 30_000);
      await this.watcher.runRound();
    }
  }

  get told(): unknown[] {
    return this.sent.map(({ body }) => JSON.parse(body));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12), toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** No account can serve anybody. */
const EMPTY = { accounts: [], alerts: { webhooks: [HOOK] } };

describe("an alert", () => {
  test("is reported once, again after its quiet period, and when it ends", async () => {
    const site = await new Site().open(EMPTY);
    await site.pass(59);
    expect(site.told).toMatchObject([
      {
        type: "alert.firing",
        timestamp: "2026-11-22T12:00:30.000Z",
        data: { kind: "empty_pool", value: 0, text: "Polygate: 0 of 0 accounts can serve requests" },
      },
    ]);
    site.restart();
    await site.pass(2);
    expect(site.told).toHaveLength(2);
    await site.platform.configuration.update((config) => ({
      ...config,
      accounts: [{ ...config.accounts[0], email: "a@b.c" }].map((account) => ({
        mobile: "",
        password: "p",
        token: "",
        name: "",
        remark: "",
        proxy_id: "",
        disabled: false,
        weight: 1,
        ...account,
      })),
    }));
    await site.pass(1);
    expect(site.told).toMatchObject([{}, {}, { type: "alert.resolved", data: { kind: "empty_pool" } }]);
    expect(site.watcher.status().deliveries).toHaveLength(3);
  });

  test("is reported once by concurrent rounds", async () => {
    const site = await new Site().open(EMPTY);
    await Promise.all([site.watcher.runRound(), site.watcher.runRound()]);
    expect(site.told).toHaveLength(1);
  });

  test("is signed, and follows no redirect", async () => {
    const site = await new Site().open(EMPTY);
    site.answers.push(302);
    await site.pass(0.5);
    const [sent] = site.sent;
    if (sent === undefined) throw new Error("nothing was sent");
    expect(sent.redirect).toBe("manual");
    const id = sent.headers.get("webhook-id");
    const at = sent.headers.get("webhook-timestamp");
    const key = Buffer.from(SECRET.slice(6), "base64");
    const expected = createHmac("sha256", key).update(`${id}.${at}.${sent.body}`).digest("base64");
    expect(sent.headers.get("webhook-signature")).toBe(`v1,${expected}`);
    expect(site.sent).toHaveLength(1);
    expect(site.watcher.status().deliveries).toMatchObject([
      { pending: true, error: "the webhook answered 302", attempts: 1 },
    ]);
  });

  test("is repeated at growing intervals with the same id if it does not arrive, and is given up in the end", async () => {
    const site = await new Site().open(EMPTY);
    site.answers.push(0, 500, ...Array(50).fill(503));
    await site.pass(1);
    expect(site.sent).toHaveLength(2);
    site.restart();
    await site.pass(30);
    expect(site.sent).toHaveLength(4);
    expect(new Set(site.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    await site.platform.configuration.update((config) => ({
      ...config,
      alerts: {
        ...config.alerts,
        rules: {
          ...config.alerts.rules,
          empty_pool: { enabled: false, threshold: 0, quiet_minutes: 10_080 },
        },
      },
    }));
    await site.pass(300);
    const [first] = site.watcher.status().deliveries.toReversed();
    expect(first).toMatchObject({ attempts: 6, pending: false, error: "the webhook answered 503" });
  });

  test("arrives before its end, when the webhook works again", async () => {
    const site = await new Site().open(EMPTY);
    site.answers.push(500, 500);
    await site.pass(1);
    const { alerts } = (await site.platform.configuration.readFresh()).config;
    const update = (rules: Partial<typeof alerts.rules>) =>
      site.platform.configuration.update((config) => ({
        ...config,
        alerts: { ...alerts, rules: { ...alerts.rules, ...rules } },
      }));
    await update({ empty_pool: { ...alerts.rules.empty_pool, enabled: false } });
    await site.pass(0.5);
    expect(site.told).toMatchObject([
      ...[{ type: "alert.firing" }, { type: "alert.firing" }],
      ...[{ type: "alert.firing" }, { type: "alert.resolved" }],
    ]);
    expect(site.watcher.status().deliveries.map(({ error }) => error)).toEqual(["", ""]);
  });

  test("arrives in the end with many others, if the webhook refuses them at first", async () => {
    const api_keys = Array.from({ length: 70 }, (_, n) => ({
      ...{ key: `sk-${n}`, name: "", remark: "", id: `k${n}`, limits: { tokens_per_day: 100 } },
    }));
    const site = await new Site().open({ api_keys, alerts: { webhooks: [HOOK] } });
    const usage = api_keys.map(({ id }) => ({
      ...{ key: id, parallel: 0, minute: { requests: 0, tokens: 0 } },
      ...{ day: { tokens: 90, cost: 0 }, month: { tokens: 0, cost: 0 } },
    }));
    vi.spyOn(site.platform.accounts, "listSubjectUsage").mockResolvedValue(usage);
    site.answers.push(429, 429, 429);
    await site.pass(0.5);
    site.restart();
    await site.pass(15);
    const subjects = site.sent.slice(3).map(({ body }) => JSON.parse(body).data.subject);
    expect(subjects).toEqual(expect.arrayContaining(api_keys.map(({ id }) => `${id} tokens of a day 80`)));
    expect(site.watcher.status().deliveries).toHaveLength(50);
  });

  test.each([
    ["deleted", []],
    ["disabled", [{ ...HOOK, disabled: true }]],
  ])("is forgotten with its retries when the only webhook is %s", async (_, webhooks) => {
    const site = await new Site().open(EMPTY);
    site.answers.push(500);
    await site.pass(0.5);
    expect(site.watcher.status().firing).toHaveLength(1);
    const useWebhooks = (list: readonly (typeof HOOK)[]) =>
      site.platform.configuration.update(async (config) => ({
        ...config,
        alerts: { ...config.alerts, webhooks: list.map((hook) => ({ name: "", disabled: false, ...hook })) },
      }));
    await useWebhooks(webhooks);
    await site.pass(0.5);
    const { firing, deliveries } = site.watcher.status();
    expect([firing, deliveries.map(({ pending }) => pending)]).toEqual([[], [false]]);
    site.restart();
    // Who adds a webhook learns of the problems that there are.
    await useWebhooks([HOOK]);
    await site.pass(0.5);
    expect(site.told).toMatchObject([{ type: "alert.firing" }, { type: "alert.firing" }]);
    expect(new Set(site.sent.map(({ headers }) => headers.get("webhook-id"))).size).toBe(2);
  });

  test.each([
    ["chat", { text: "Polygate: 0 of 0 accounts can serve requests" }],
    ["discord", { content: "Polygate: 0 of 0 accounts can serve requests" }],
  ] as const)("has the form of %s", async (format, body) => {
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks: [{ ...HOOK, format }] } });
    await site.pass(0.5);
    expect(site.told).toEqual([body]);
  });

  test.each(["http://127.0.0.1/x", "http://169.254.169.254/latest", "http://[::1]/", "http://localhost/"])(
    "is never sent to %s",
    async (url) => {
      const site = await new Site().open({ ...EMPTY, alerts: { webhooks: [{ ...HOOK, url }] } });
      await site.pass(1);
      expect(await site.watcher.test("ops")).toMatchObject({ success: false, status: 0 });
      expect(site.sent).toEqual([]);
    },
  );

  test.each([
    ["http://127.0.0.1:8065/x", "127.0.0.1", ""],
    ["http://127.0.0.1:8065/x", "127.0.0.1:8065", ""],
    ["https://chat.local/x", "CHAT.local:443", ""],
    ["http://[::1]/127.", "[::1]", ""],
    ["http://127.0.0.1:8065/x", "127.0.0.1:80", "private_hosts"],
    ["http://localhost/x", "chat.local", "private_hosts"],
  ])("is sent to a private address that is listed: %s with %s", async (url, host, refused) => {
    const alerts = { webhooks: [{ ...HOOK, url }], private_hosts: [host] };
    const site = await new Site().open({ ...EMPTY, alerts });
    expect(await site.watcher.test("ops")).toMatchObject({
      success: refused === "",
      message: expect.stringContaining(refused),
    });
    expect(site.sent.length).toBe(refused === "" ? 1 : 0);
  });

  test("costs nothing without an active webhook", async () => {
    const site = await new Site().open({ accounts: [], alerts: { webhooks: [{ ...HOOK, disabled: true }] } });
    expect(await site.watcher.runRound()).toBeNull();
    expect(site.sent).toEqual([]);
  });

  test("is sent, and does not end, if some data cannot be read", async () => {
    const site = await new Site().open(EMPTY);
    site.answers.push(500);
    await site.pass(1);
    const { accounts, archive } = site.platform;
    const fails = async () => {
      throw new Error("overloaded");
    };
    const broken = vi.spyOn(accounts, "getStatus").mockImplementation(fails);
    vi.spyOn(accounts, "listSubjectUsage").mockImplementation(fails);
    vi.spyOn(archive, "readMetrics").mockImplementation(fails);
    await site.pass(5);
    expect(broken).toHaveBeenCalled();
    expect(site.watcher.status().deliveries).toMatchObject([{ kind: "empty_pool", attempts: 2, error: "" }]);
    expect(site.told).toMatchObject([{ type: "alert.firing" }, { type: "alert.firing" }]);
  });

  /** Changes the configuration's webhooks. */
  const setHooks = (site: Site, change: (hook: Webhook) => Partial<Webhook>) =>
    site.platform.configuration.update((config) => {
      const webhooks = config.alerts.webhooks.map((hook) => ({ ...hook, ...change(hook) }));
      return { ...config, alerts: { ...config.alerts, webhooks } };
    });
  /** Disables the only rule that fires, so that its alert ends. */
  const endAlert = (site: Site) =>
    site.platform.configuration.update((config) => {
      const rules = { ...config.alerts.rules };
      rules.empty_pool = { ...rules.empty_pool, enabled: false };
      return { ...config, alerts: { ...config.alerts, rules } };
    });
  /** The last part of the address and the kind of message, of all messages. */
  const listSent = (site: Site) =>
    site.sent.map(({ url, body }) => `${url.split("/").at(-1)} ${JSON.parse(body).type}`).toSorted();
  const hook = (id: string, rules?: Webhook["rules"]) => ({
    ...{ ...HOOK, id, url: `https://hooks.example.com/${id}` },
    ...(rules !== undefined && { rules }),
  });

  const reportFailures = async (site: Site, count: number) => {
    const failed = { message: "it failed", value: 503, threshold: 0 };
    for (let subject = 0; subject < count; subject += 1)
      await site.watcher.report({ kind: "sync_failed", subject: String(subject), ...failed });
  };

  test("comes to a webhook one after the other, and not while it takes none", async () => {
    const webhooks = [hook("one"), hook("two")];
    const site = await new Site().open({ accounts: [], alerts: { webhooks } });
    await endAlert(site);
    await reportFailures(site, 20);
    site.answers.push(429, 200, 0);
    await site.watcher.runRound();
    // The first webhook takes none; the second one takes its first message only.
    expect(site.sent).toHaveLength(3);
    await site.pass(0.5);
    const subjects = (id: string) =>
      site.sent.filter(({ url }) => url.endsWith(id)).map(({ body }) => JSON.parse(body).data.subject);
    const all = Array.from({ length: 20 }, (_, subject) => String(subject));
    expect(subjects("one")).toEqual(["0", ...all]);
    expect(subjects("two")).toEqual(["0", "1", ...all.slice(1)]);
    expect(site.mostAtOnce).toBe(1);
    expect(site.watcher.status().deliveries.filter(({ pending }) => pending)).toEqual([]);
  });

  test("for a slow webhook waits for a later round, so that the rules are checked meanwhile", async () => {
    const site = await new Site().open(EMPTY);
    await endAlert(site);
    await reportFailures(site, 10);
    site.answerMs = 9_000;
    await site.watcher.runRound();
    expect(site.sent).toHaveLength(3);
    await site.pass(2);
    const subjects = site.sent.map(({ body }) => JSON.parse(body).data.subject);
    expect(subjects).toEqual(Array.from({ length: 10 }, (_, subject) => String(subject)));
  });

  test("is sent again no sooner than the webhook asks for, at most two hours later", async () => {
    const site = await new Site().open(EMPTY);
    await endAlert(site);
    await reportFailures(site, 1);
    site.retryAfter = "600";
    site.answers.push(429, 429);
    await site.watcher.runRound();
    await site.pass(9.5);
    expect(site.sent).toHaveLength(1);
    site.retryAfter = "1000000000";
    await site.pass(0.5);
    expect(site.sent).toHaveLength(2);
    await site.pass(119.5);
    expect(site.sent).toHaveLength(2);
    await site.pass(0.5);
    expect(site.sent).toHaveLength(3);
  });

  test("goes to the webhooks that name its rule, and to those that name none", async () => {
    const webhooks = [hook("all"), hook("pool", ["budget", "empty_pool"]), hook("sync", ["sync_failed"])];
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks } });
    await site.pass(0.5);
    expect(listSent(site)).toEqual(["all alert.firing", "pool alert.firing"]);
    const failed = { subject: "", message: "it failed", value: 503, threshold: 0 };
    await site.watcher.report({ kind: "sync_failed", ...failed });
    await site.pass(0.5);
    expect(listSent(site)).toEqual([
      ...["all alert.firing", "all alert.firing"],
      ...["pool alert.firing", "sync alert.firing"],
    ]);
    site.sent.length = 0;
    await endAlert(site);
    await site.pass(0.5);
    expect(listSent(site)).toEqual(["all alert.resolved", "pool alert.resolved"]);
    for (const id of ["all", "pool", "sync"])
      expect(await site.watcher.test(id)).toMatchObject({ success: true });
  });

  test("shows as firing even if no webhook names its rule", async () => {
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks: [hook("sync", ["sync_failed"])] } });
    await site.pass(0.5);
    expect(site.watcher.status()).toMatchObject({ firing: [{ kind: "empty_pool" }], deliveries: [] });
    await endAlert(site);
    await site.pass(0.5);
    expect(site.sent).toEqual([]);
  });

  test("ends where it began, although the webhooks name other rules by then", async () => {
    const webhooks = [hook("first", ["empty_pool"]), hook("later", ["budget"])];
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks } });
    await site.pass(0.5);
    await setHooks(site, ({ id }) => ({ rules: [id === "first" ? "budget" : "empty_pool"] }));
    site.restart();
    await site.pass(0.5);
    await endAlert(site);
    await site.pass(0.5);
    expect(listSent(site)).toEqual(["first alert.firing", "first alert.resolved"]);
  });

  test("ends where it began and where it was repeated", async () => {
    const webhooks = [hook("first", ["empty_pool"]), hook("later", ["budget"])];
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks } });
    await site.pass(0.5);
    await setHooks(site, ({ id }) => ({ rules: [id === "first" ? "budget" : "empty_pool"] }));
    await site.pass(60);
    expect(listSent(site)).toEqual(["first alert.firing", "later alert.firing"]);
    await endAlert(site);
    await site.pass(0.5);
    expect(listSent(site)).toEqual([
      ...["first alert.firing", "first alert.resolved"],
      ...["later alert.firing", "later alert.resolved"],
    ]);
  });

  test("of an earlier version, whose state names no webhooks, ends at all of them", async () => {
    const site = await new Site().open({ ...EMPTY, alerts: { webhooks: [hook("one"), hook("two")] } });
    await site.pass(0.5);
    site.forgetRecipients();
    site.restart();
    await setHooks(site, ({ id }) => (id === "two" ? { rules: ["budget"] } : {}));
    await endAlert(site);
    await site.pass(0.5);
    expect(listSent(site)).toEqual([
      ...["one alert.firing", "one alert.resolved"],
      ...["two alert.firing", "two alert.resolved"],
    ]);
  });

  test("can be tested", async () => {
    const site = await new Site().open({ alerts: { webhooks: [HOOK] } });
    expect(await site.watcher.test("ops")).toEqual({ success: true, status: 200, message: "it has arrived" });
    expect(site.told).toMatchObject([{ type: "test" }]);
    site.answers.push(0);
    expect(await site.watcher.test("ops")).toMatchObject({
      success: false,
      message: "the webhook could not be reached",
    });
    expect(await site.watcher.test("nobody")).toBeNull();
  });

  test("reports a failed sync", async () => {
    const site = await new Site().open({ alerts: { webhooks: [HOOK] } });
    await site.watcher.report({
      kind: "sync_failed",
      subject: "",
      message: "it failed",
      value: 503,
      threshold: 0,
    });
    await site.pass(0.5);
    expect(site.told).toMatchObject([{ data: { kind: "sync_failed", message: "it failed" } }]);
  });
});

describe("the stored state", () => {
  /** Keys that have used this many per cent of their budgets. */
  const spend = (site: Site, ids: readonly string[], percent = 90) =>
    vi.spyOn(site.platform.accounts, "listSubjectUsage").mockResolvedValue(
      ids.map((id) => ({
        ...{ key: id, parallel: 0, minute: { requests: 0, tokens: 0 } },
        ...{ day: { tokens: percent, cost: 0 }, month: { tokens: 0, cost: 0 } },
      })),
    );
  const keysOf = (ids: readonly string[], name = "") =>
    ids.map((id) => ({ key: `sk-${id}`, name, remark: "", id, limits: { tokens_per_day: 100 } }));
  /** Records the lines of the log. */
  const watchLog = () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => log.mockRestore());
    return { list: (): unknown[] => log.mock.calls.map(([line]) => JSON.parse(String(line))) };
  };

  test("has at most 2000 budgets; the others are reported when one of them ends, and other rules at any time", async () => {
    const ids = Array.from({ length: 2_003 }, (_, n) => `k${n}`);
    const log = watchLog();
    const site = await new Site().open({ ...EMPTY, api_keys: keysOf(ids) });
    spend(site, ids);
    vi.spyOn(site.platform.accounts, "getStatus").mockRejectedValueOnce(new Error("overloaded"));
    await site.pass(0.5);
    expect([site.sent.length, Object.keys(site.state?.told ?? {}).length]).toEqual([2_000, 2_000]);
    await site.pass(1);
    site.restart();
    await site.pass(1);
    expect(site.told.slice(2_000)).toMatchObject([{ data: { kind: "empty_pool" } }]);
    expect(log.list()).toEqual([
      expect.objectContaining({ alerts_not_reported: 3, cause: "2000 budgets are reported at the moment" }),
      expect.objectContaining({ alerts_not_reported: 3 }),
    ]);
    spend(site, ids.slice(1));
    await site.pass(1);
    expect(site.told.slice(2_001)).toMatchObject([
      { type: "alert.resolved", data: { subject: "k0 tokens of a day 80" } },
      { type: "alert.firing", data: { subject: "k2000 tokens of a day 80" } },
    ]);
  });

  test("has texts of at most 300 characters", async () => {
    const site = await new Site().open({
      api_keys: keysOf(["long"], "x".repeat(100_000)),
      alerts: { webhooks: [HOOK] },
    });
    spend(site, ["long"]);
    await site.pass(0.5);
    expect(JSON.stringify(site.state).length).toBeLessThan(5_000);
    expect(JSON.stringify(site.told)).toContain("x".repeat(200));
  });

  test("says in the log which messages had no room", async () => {
    const ids = Array.from({ length: 1_100 }, (_, n) => `k${n}`);
    const log = watchLog();
    const site = await new Site().open({ api_keys: keysOf(ids), alerts: { webhooks: [HOOK] } });
    spend(site, ids);
    site.answers.push(503);
    await site.pass(0.5);
    expect(site.state?.messages).toHaveLength(1_000);
    expect(log.list()).toEqual([
      expect.objectContaining({ alert_messages_dropped: 100, cause: "1000 messages wait to be sent" }),
    ]);
  });

  test("that cannot be saved is in the log, with the cause, once; and its messages are sent once", async () => {
    const log = watchLog();
    const site = await new Site().open(EMPTY);
    site.saveError = new Error("SQLITE_FULL: database or disk is full");
    site.answers.push(503);
    await site.pass(5);
    expect(site.told).toMatchObject([{ type: "alert.firing" }, { type: "alert.firing" }]);
    expect(site.watcher.status().deliveries).toMatchObject([{ attempts: 2, pending: false, error: "" }]);
    const line = { at: "2026-11-22T12:00:30.000Z", alerts_not_saved: site.saveError.message };
    expect(log.list()).toEqual([{ ...line, alerts_not_saved: `Error: ${line.alerts_not_saved}` }]);
    site.saveError = null;
    await site.pass(0.5);
    site.saveError = new Error("SQLITE_BUSY: database is locked");
    await site.pass(1);
    expect(log.list().slice(1)).toMatchObject([
      { alerts_not_saved: "Error: SQLITE_BUSY: database is locked" },
    ]);
    // The last state that could be saved.
    site.restart();
    await site.pass(1);
    expect(site.sent).toHaveLength(2);
  });

  test("says in the log that a round failed, and the next round comes as usual", async () => {
    const log = watchLog();
    const site = await new Site().open(EMPTY);
    vi.spyOn(site.platform.configuration, "readFresh").mockRejectedValueOnce(new Error("overloaded"));
    expect(await site.watcher.runRound()).toBe(30_000);
    expect(log.list()).toMatchObject([{ alerts_not_checked: "Error: overloaded" }]);
    expect(await site.watcher.runRound()).toBe(30_000);
    expect(site.sent).toHaveLength(1);
  });
});

describe("a provider with a single token", () => {
  const SOLO = { id: "solo", driver: "openai", base_url: "https://solo.test", token: "t" };

  /** Sends requests to the provider. */
  async function ask(site: Site, fails: boolean, count: number): Promise<void> {
    for (let request = 0; request < count; request += 1) {
      const { accounts } = site.platform;
      const granted = await accounts.acquire({ requestId: "r", model: "m", provider: "solo" });
      if ("refused" in granted) throw new Error(granted.refused);
      const { lease } = granted;
      if (fails) await lease.reportFailure(failure("unreachable", "it refuses connections"));
      else await lease.reportSuccess();
      lease.release();
    }
  }

  test("is reported when it goes down and when it recovers", async () => {
    const site = await new Site().open({
      providers: [SOLO],
      alerts: {
        webhooks: [HOOK],
        rules: { cooling_accounts: { enabled: false }, empty_pool: { enabled: false } },
      },
    });
    await site.pass(1);
    await ask(site, true, 4);
    await site.pass(1);
    expect(site.told).toEqual([]);
    await ask(site, true, 1);
    await site.pass(5);
    const text = "Polygate: the provider solo is down: it refuses connections";
    expect(site.told).toMatchObject([
      { type: "alert.firing", data: { kind: "provider_down", subject: "solo", text } },
    ]);
    // A pool that does not answer knows nothing of it.
    const { accounts } = site.platform;
    const status = await accounts.getStatus();
    const { troubles: _, ...silent } = { ...status, partial: true };
    const spy = vi.spyOn(accounts, "getStatus").mockResolvedValue(silent);
    await site.pass(1);
    expect(site.told).toHaveLength(1);
    spy.mockRestore();
    await ask(site, false, 6);
    await site.pass(1);
    expect(site.told).toMatchObject([
      {},
      { type: "alert.resolved", data: { kind: "provider_down", text: text.replace(": ", ": over: ") } },
    ]);
  });
});

describe("the alerts found", () => {
  const rules = alertRulesSchema.parse({});
  const calm: AlertInputs & { readonly status: NonNullable<AlertInputs["status"]> } = {
    status: {
      available: 2,
      ready: 2,
      in_use: 0,
      total: 2,
      available_accounts: [],
      in_use_accounts: [],
      max_inflight_per_account: 1,
      global_max_inflight: 2,
      recommended_concurrency: 2,
      waiting: 0,
      max_queue_size: 2,
      leases: [],
      cooldowns: [],
      cooling: 0,
      conditions: { ok: 2, untested: 0, failing: 0, cooling: 0, disabled: 0 },
      failing: [],
      outages: [],
      waiting_requests: [],
    },
    uses: [],
    keys: [],
    rate: { total: 0, failed: 0 },
  };
  const kinds = async (reading: Partial<AlertInputs>) =>
    (await evaluateRules({ ...calm, ...reading }, rules)).map(({ kind }) => kind);
  const cooldown = {
    account: "a",
    proxy: "",
    kind: "rate_limited",
    reason: "",
    failures: 1,
    until: 0,
  } as const;

  const trouble = (provider: string, health: "degraded" | "down" = "down") => ({
    provider,
    health,
    last_error: { reason: "it refuses connections", at: 1 },
  });

  test.each<[string, Partial<AlertInputs>, string[]]>([
    ["nothing", {}, []],
    ["errors", { rate: { total: 100, failed: 21 } }, ["error_rate"]],
    ["few errors", { rate: { total: 100, failed: 20 } }, []],
    ["errors of few requests", { rate: { total: 9, failed: 9 } }, []],
    ["a queue", { status: { ...calm.status, waiting: 11 } }, ["queue_depth"]],
    ["a short queue", { status: { ...calm.status, waiting: 10 } }, []],
    [
      "an account that cools down",
      { status: { ...calm.status, cooldowns: [cooldown] } },
      ["cooling_accounts"],
    ],
    ["no account", { status: { ...calm.status, ready: 0 } }, ["empty_pool"]],
    [
      "a provider that is down",
      { status: { ...calm.status, troubles: [trouble("engine")] } },
      ["provider_down"],
    ],
    ["the default one", { status: { ...calm.status, troubles: [trouble("")] } }, ["provider_down"]],
    ["a degraded provider", { status: { ...calm.status, troubles: [trouble("engine", "degraded")] } }, []],
  ])("%s", async (_, reading, expected) => {
    expect(await kinds(reading)).toEqual(expected);
  });

  test("budgets at 80 and at 100 per cent, by key", async () => {
    const keys: ApiKey[] = [
      { key: "sk-1", name: "Laptop", remark: "", id: "k", limits: { tokens_per_day: 100 } },
    ];
    const at = async (tokens: number) => {
      const use = {
        key: "k",
        parallel: 0,
        minute: { requests: 0, tokens: 0 },
        day: { tokens, cost: 0 },
        month: { tokens: 0, cost: 0 },
      };
      return (await evaluateRules({ ...calm, keys, uses: [use] }, rules)).map(({ threshold, message }) => [
        threshold,
        message,
      ]);
    };
    expect(await at(79)).toEqual([]);
    expect(await at(80)).toEqual([[80, "the key Laptop (k) has used 80% of its tokens of a day"]]);
    expect((await at(105)).map(([level]) => level)).toEqual([80, 100]);
  });

  test("a key whose id looks like the name of a team has its own budget", async () => {
    const keys: ApiKey[] = [
      { key: "sk-1", name: "", remark: "", id: "team:core", limits: { tokens_per_day: 100 } },
    ];
    const at = (key: string, tokens: number) => ({
      key,
      parallel: 0,
      minute: { requests: 0, tokens: 0 },
      day: { tokens, cost: 0 },
      month: { tokens: 0, cost: 0 },
    });
    const uses = [at("team:core", 1000), at("key:team:core", 90)];
    const alerts = await evaluateRules({ ...calm, keys, uses }, rules);
    expect(alerts.map(({ message }) => message)).toEqual([
      "the key team:core has used 90% of its tokens of a day",
    ]);
  });

  test("faults of the provider count as errors, those of callers do not", () => {
    const of = (status: string, error: string) =>
      `polygate_generations_total{dialect="d",model="m",status="${status}",error="${error}"}`;
    expect(
      errorTotals({
        [of("200", "")]: 10,
        [of("200", "upstream_error")]: 1,
        [of("503", "model_unavailable")]: 2,
        [of("429", "rate_limit_exceeded")]: 4,
        [of("400", "invalid_request")]: 8,
        [of("499", "request_cancelled")]: 16,
        polygate_upstream_requests_total: 99,
      }),
    ).toEqual({ total: 41, failed: 3 });
  });
});
