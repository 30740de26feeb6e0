import { describe, expect, it } from "vitest";
import { USAGE_SUMS } from "../../../../../src/core/ports/usage.ts";
import { usageCsv } from "../../../../../src/operator/admin/monitoring/usage-csv.ts";

describe("usage as CSV", () => {
  it("has a column for each percentile, and none for dimensions that were not requested", () => {
    const row = {
      at: 0,
      key: "key_1",
      model: "m",
      requests: 2,
      duration_ms: { p50: 1, p95: 2, p99: 3 },
      queue_ms: null,
    };
    const [head = "", line = ""] = usageCsv([row], ["key"]).split("\r\n");
    const cells = Object.fromEntries(head.split(",").map((name, place) => [name, line.split(",")[place]]));
    expect(cells).toMatchObject({
      at: "1970-01-01T00:00:00.000Z",
      key: "key_1",
      requests: "2",
      duration_ms_p95: "2",
    });
    expect(cells).toMatchObject({ queue_ms_p50: "", cost: "0" });
    expect(cells).not.toHaveProperty("model");
  });

  it("has a column for each total", () => {
    const columns = usageCsv([], []).trimEnd().split(",");
    const counts = USAGE_SUMS.filter((name) => !/_ms$|^cost_nano$/.test(name));
    expect(columns).toEqual(
      expect.arrayContaining([...counts, "cost", "first_token_ms_p50", "queue_ms_p99"]),
    );
  });

  it("has the names of ids in the last columns", () => {
    const rows = [
      { at: 0, key: "key_1", model: "m" },
      { at: 0, key: "key_2", model: "m" },
    ];
    const names = { key: new Map([["key_1", "Ada, at home"]]), team: new Map([["t", "Team"]]) };
    const lines = usageCsv(rows, ["key", "model"], names).split("\r\n");
    expect(lines[0]).toMatch(/,key_name$/);
    expect(lines[1]).toMatch(/,"Ada, at home"$/);
    expect(lines[2]).toMatch(/,$/);
  });

  it("keeps names of strangers from being columns, lines or formulas", () => {
    const csv = usageCsv(
      [
        { at: 0, model: 'a,"b"\nc' },
        { at: 0, model: "=cmd()" },
      ],
      ["model"],
    );
    expect(csv).toContain('"a,""b""\nc"');
    expect(csv).toContain(",'=cmd(),");
  });
});
