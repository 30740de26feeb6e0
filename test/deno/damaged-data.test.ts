import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";
import { DenoGateway } from "../support/deno.ts";
import { until } from "../support/until.ts";

const ADMIN = { authorization: "Bearer admin" };
const KEY = "sk-of-a-key-with-a-budget";
const LARGEST = "9223372036854775807";

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start();
});
afterAll(() => gateway?.close());

const send = (method: string, path: string, body?: unknown, authorization = ADMIN.authorization) =>
  gateway.fetch(path, {
    method,
    headers: { "content-type": "application/json", authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const chat = (key: string) =>
  send(
    "POST",
    "/v1/chat/completions",
    { model: "gpt-4o", messages: [{ role: "user", content: "hi" }] },
    `Bearer ${key}`,
  );
const status = async (path: string) => {
  const answer = await gateway.fetch(path, { headers: ADMIN });
  await answer.text();
  return [path, answer.status];
};

/** One damaged row for each table that a start reads, and for the books. */
const DAMAGE: Readonly<Record<string, string>> = {
  key_use: "insert into key_use values('u', 'k', 1, 'text', 0, 0, 0, 0, 0)",
  key_sum: `insert into key_sum values('k', 1, -5, ${LARGEST}, 1, 0, 0)`,
  mark: "insert or replace into mark values('an account', 'many')",
  start: "update start set last = 'text'",
  terms: "insert or replace into terms values(1, '', 1e308, 'text')",
  health: "insert into health values(99, '{')",
  reclaimed: "insert into reclaimed values('token', 'text')",
  account: "update account set cooling_until = 'text' where id = (select min(id) from account)",
  retention: "update retention set records = 'text'",
  metric: "update metric set counts = '{\"a'",
  record: "update record set summary = '{' where seq = (select min(seq) from record)",
  capture: "insert into capture(id, at, chain, chars, head) values('c', 1, '', 1, 'text')",
  sample: "insert into sample values('s', 1, '[]')",
  alert_memory: "insert or replace into alert_memory values(1, '[]')",
  rate: "insert into rate values('client', '[', 8000000000000)",
  page_jobs: "insert into page_jobs values('j', 'c', 'thumbs', '', 1, null, 'text')",
  page_tasks: "insert into page_tasks values('j', 0, '', '', 'queued', 0, 1, '{', '', 0, 0)",
  audit: "update audit set changes = '[' where id = (select min(id) from audit)",
  usage_day: "update usage_day set duration = '{'",
  usage_key: "update usage_key set cost_nano = -1 where id = (select min(id) from usage_key)",
};
/** Rows that are sound, whatever they hold: they stay. */
const LARGE = [
  `insert or replace into key_sum values('large', 1, ${LARGEST}, 1e40, 1, 0, 0)`,
  `update usage_hour set cost_nano = ${LARGEST}, prompt_tokens = ${LARGEST}`,
  `update activity_minute set cost_nano = ${LARGEST}, prompt_tokens = ${LARGEST}`,
];

describe("a data folder with damaged rows", () => {
  it("starts, moves them to a separate table, logs this, and works", async () => {
    const limits = { cost_per_day: 5, tokens_per_day: 1_000_000 };
    expect((await send("POST", "/admin/keys", { key: KEY, limits })).status).toBe(200);
    expect((await chat(KEY)).status).toBe(200);
    expect((await chat("sk-dev")).status).toBe(200);
    await until(
      async () =>
        Object(await (await gateway.fetch("/admin/usage?granularity=total", { headers: ADMIN })).json()),
      ({ totals }) => totals.requests === 2,
    );
    await gateway.end("SIGKILL");
    await gateway.changeData((database) => {
      for (const statement of [...LARGE, ...Object.values(DAMAGE)]) {
        expect([statement, Number(database.prepare(statement).run().changes) > 0]).toEqual([statement, true]);
      }
    });

    await gateway.startAgain();
    expect((await chat(KEY)).status).toBe(200);
    for (const path of [
      "/admin/usage",
      "/admin/usage?granularity=day",
      "/admin/usage?granularity=hour&group_by=key",
      "/admin/activity",
      "/admin/keys",
      "/admin/audit",
      "/admin/chat-history",
      "/admin/queue/status",
      "/admin/alerts",
      "/admin/metrics",
      "/admin/dev/captures",
    ]) {
      expect(await status(path)).toEqual([path, 200]);
    }
    const told = gateway.logs().flatMap((line) => /"damaged_rows":\d+,"table":"(\w+)"/.exec(line)?.[1] ?? []);
    expect([...new Set(told)].sort()).toEqual(Object.keys(DAMAGE).sort());
    await gateway.restart();
    expect((await chat(KEY)).status).toBe(200);
    expect(gateway.logs().filter((line) => line.includes("damaged_rows"))).toEqual([]);
  });
});

describe("a damaged configuration", () => {
  const damage = (change: (database: DatabaseSync) => void) => gateway.changeData(change);
  const refusal = () =>
    gateway.startAgain().then(
      () => "it has started",
      (error: unknown) => String(error),
    );

  it("stops the start with a sentence, changes nothing, and a kept version is the way on", async () => {
    expect((await send("POST", "/admin/keys", { key: "sk-to-be-deleted" })).status).toBe(200);
    expect((await send("DELETE", "/admin/keys/sk-to-be-deleted")).status).toBe(200);
    await gateway.end("SIGKILL");
    let row = "";
    await damage((database) => {
      row = String(database.prepare("select stored from configuration").get()?.["stored"]);
    });
    const stored = JSON.parse(row);
    const broken: readonly [string, RegExp][] = [
      [row.slice(0, -10), /the row is no JSON/],
      [JSON.stringify({ ...stored, version: "text" }), /version: /],
      [JSON.stringify({ ...stored, version: 1e300 }), /version: /],
      [JSON.stringify({ ...stored, config: null }), /config: /],
      [
        JSON.stringify({ ...stored, build: "", config: { ...stored.config, accounts: [5] } }),
        /accounts\.0: /,
      ],
      ["", /the row is no JSON/],
    ];
    for (const [text, reason] of broken) {
      await damage((database) => database.prepare("update configuration set stored = ?").run(text));
      const said = await refusal();
      expect(said).toMatch(/The configuration in .*polygate\.db is damaged: .*kept versions: \d/);
      expect(said).toMatch(reason);
      expect(said).not.toContain(KEY);
      await damage((database) => {
        expect(database.prepare("select stored from configuration").get()).toMatchObject({ stored: text });
      });
    }

    const documented = /sqlite3 data\/polygate\.db "(insert or replace into configuration.*)"/.exec(
      readFileSync(join(root, "docs", "operating.md"), "utf8"),
    )?.[1];
    await damage((database) => {
      const version = database.prepare("select max(version) v from kept_version").get()?.["v"];
      database.exec(String(documented).replace("'12'", `'${version}'`));
    });
    await gateway.startAgain();
    expect((await chat(KEY)).status).toBe(200);
    expect((await send("POST", "/admin/keys", { key: "sk-after-all" })).status).toBe(200);
    expect((await chat("sk-after-all")).status).toBe(200);
  });
});
