import { expect, it } from "vitest";
import { ConfigurationClient } from "../../../../src/core/config/configuration-client.ts";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { toCanonicalJson } from "../../../../src/core/encoding/canonical-json.ts";
import { sha256Hex } from "../../../../src/core/encoding/hash.ts";
import { entryEtag } from "../../../../src/operator/admin/etag.ts";
import { MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";

const make = useMemoryGateway();

it("the version of an entry depends on each value, not on the order of its fields, and hides them all", async () => {
  const config = configSchema.parse({ admin: { jwt_secret: "a-signing-secret" } });
  const entry = { id: "p", password: "guess", headers: { a: "1", b: "2" } };
  const tag = await entryEtag(config, entry);
  expect(await entryEtag(config, { headers: { b: "2", a: "1" }, password: "guess", id: "p" })).toBe(tag);
  expect(await entryEtag(config, { ...entry, password: "gues" })).not.toBe(tag);
  expect(await entryEtag(config, { ...entry, headers: { a: "1", b: "3" } })).not.toBe(tag);
  // Whoever sees the tag cannot try passwords without the secret of the deployment.
  for (const text of [toCanonicalJson(entry), toCanonicalJson(["", entry])]) {
    expect(tag).not.toContain((await sha256Hex(text)).slice(0, 32));
  }
});

it("an edit of another isolate between the check of a version and its write is not lost", async () => {
  const main = await make({ env: { ADMIN_KEY: "admin" }, config: { accounts: [accountNamed("a@x")] } });
  let isFirst = true;
  const configuration = new ConfigurationClient(
    {
      newerThan: () => main.platform.configuration.readFresh(),
      replace: async (base, next, note) => {
        if (isFirst) await send(main, { remark: "theirs" });
        isFirst = false;
        const snapshot = await main.platform.configuration.readFresh();
        if (snapshot.version !== base) return { stored: false, snapshot };
        const written = await main.platform.configuration.update(
          () => next,
          () => note,
        );
        return { stored: true, snapshot: written };
      },
    },
    Date.now,
  );
  const other = new MemoryGateway({ ...main.platform, configuration }, main.upstream, main.lines);
  const tag = (await send(other)).headers.get("etag") ?? "";
  const answer = await send(other, { remark: "mine" }, { "if-match": tag });
  expect([answer.status, await answer.json()]).toEqual([
    412,
    { detail: expect.stringContaining("this entry has been changed") },
  ]);
  expect(await (await send(main)).json()).toMatchObject({ remark: "theirs" });
});

/** Reads the account, or changes it. */
function send(gateway: MemoryGateway, change?: unknown, headers: Record<string, string> = {}) {
  return gateway.request("/admin/accounts/a@x", {
    method: change === undefined ? "GET" : "PUT",
    headers: { authorization: "Bearer admin", "content-type": "application/json", ...headers },
    ...(change !== undefined && { body: JSON.stringify(change) }),
  });
}
