import { expect, test } from "vitest";
import { useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { says } from "../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();
const chat = { model: "provider-v4-flash", messages: [{ role: "user", content: "Hello" }] };

test("the log, history, captures and usage name a key by its id, never by its text", async () => {
  const gateway = await createGateway({
    env: { ADMIN_KEY: "admin" },
    turns: [says("Hi")],
    config: { keys: [], api_keys: [{ key: KEY, id: "key_mine" }], captures: { enabled: true } },
  });
  await gateway.post("/v1/chat/completions", chat);
  await gateway.post("/v1/files", {});
  const [record] = await gateway.history();
  expect(gateway.lines).toMatchObject([{ key: "key_mine" }, { key: "key_mine" }]);
  expect(record?.key).toBe("key_mine");
  const captures = await gateway.platform.archive.listCaptures();
  expect(captures.length).toBeGreaterThan(0);
  for (const capture of captures) expect(capture.key).toBe("key_mine");
  const used = await gateway.platform.usage.listKeyUsage();
  expect(used).toMatchObject([{ key: "key_mine", requests: 2 }]);
  const found = await gateway.platform.archive.listHistory({ offset: 0, count: 10, q: "key_mine" });
  expect(found.total).toBe(1);
  expect(JSON.stringify([gateway.lines, record, captures, used])).not.toContain(KEY);
});

test("a caller with a token of the provider has no key", async () => {
  const gateway = await createGateway({ turns: [says("Hi")] });
  await gateway.post("/v1/chat/completions", chat, { headers: { authorization: "Bearer a-token" } });
  expect((await gateway.history())[0]?.key).toBe("");
  expect(gateway.lines[0]).not.toHaveProperty("key");
  expect(await gateway.platform.usage.listKeyUsage()).toMatchObject([{ key: "", requests: 1 }]);
});
