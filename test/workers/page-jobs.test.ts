import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";

const TABLES = "select name from sqlite_master where type='table' and name like 'page%'";

test("keeps nothing of missing and expired jobs", async () => {
  const object = () => env.PAGE_JOBS.getByName("nobody");
  const tables = () =>
    runInDurableObject(object(), (_, { storage }) => storage.sql.exec(TABLES).toArray().length);
  const looked = async () => [
    await object().get("job_1"),
    await object().result("job_1", 0),
    await object().cancel("job_1"),
  ];
  expect(await looked()).toEqual([null, null, null]);
  expect(await tables()).toBe(0);
  const fault = { status: 400, code: "url_invalid", message: "no" } as const;
  const tasks = [{ url: "http://", query: "", fault }];
  const job = await object().create({ client: "nobody", operation: "metadata", origin: "http://x", tasks });
  await abortAllDurableObjects();
  expect(await object().get(job?.id ?? "")).toMatchObject({
    id: job?.id,
    tasks: [{ url: "http://", fault }],
  });
  await runInDurableObject(object(), (_, { storage }) => {
    storage.sql.exec("update page_jobs set expires=1");
  });
  expect(await runDurableObjectAlarm(object())).toBe(true);
  expect(await looked()).toEqual([null, null, null]);
  expect(await tables()).toBe(0);
});
