import { expect, test, vi } from "vitest";
import { NO_USAGE_DETAILS } from "../../../../../src/core/ports/usage.ts";
import { START_OF_TIME, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { batch, write } from "../../../records/archive/support.ts";

const createGateway = useMemoryGateway();
const HOUR_MS = 3_600_000;

/** More of them begin in one millisecond than a page has. */
const createdAt = (n: number) => START_OF_TIME - HOUR_MS + (n < 700 ? 0 : n);

test.each(["", "&texts=true"])(
  "an export%s has each record once, also if new ones arrive meanwhile",
  async (more) => {
    const gateway = await createGateway({
      config: { history: { limit: 5_000 } },
      env: { ADMIN_KEY: "an-admin-key" },
    });
    const { archive } = gateway.platform;
    const put = (ids: readonly string[], created: (n: number) => number) =>
      archive.write(
        batch({
          retention: { version: 1, records: 5_000, captures: 5 },
          records: ids.map((id, n) => write(id, { created_at: created(n), updated_at: created(n) })),
        }),
      );
    const ids = Array.from({ length: 1_400 }, (_, n) => `r${n}`);
    await put(ids, createdAt);

    // Requests that began before the export are recorded while it goes on.
    const list = archive.listHistory.bind(archive);
    let pages = 0;
    vi.spyOn(archive, "listHistory").mockImplementation(async (query) => {
      const page = await list(query);
      pages += 1;
      await put([`late${pages}`], () => START_OF_TIME - 1);
      return page;
    });
    const headers = { authorization: "Bearer an-admin-key" };
    const answer = await gateway.request(`/admin/chat-history/export?format=ndjson${more}`, { headers });
    const summaries = (await answer.text())
      .trimEnd()
      .split("\n")
      .map((line): string => JSON.parse(line).id);
    expect(pages).toBeGreaterThan(2);
    expect(summaries.toSorted()).toEqual(ids.toSorted());
  },
);

test("an export as CSV has a column for each detail of a usage", async () => {
  const gateway = await createGateway({ env: { ADMIN_KEY: "an-admin-key" } });
  const headers = { authorization: "Bearer an-admin-key" };
  const answer = await gateway.request("/admin/chat-history/export?format=csv", { headers });
  const [columns = ""] = (await answer.text()).split("\r\n");
  expect(columns.split(",")).toEqual(expect.arrayContaining(Object.keys(NO_USAGE_DETAILS)));
});
