import { beforeEach, describe, expect, it } from "vitest";
import type { Capture } from "../../../../src/core/ports/captures.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { memoryDatabase } from "./sqlite.ts";
import { batch, capture, write } from "./support.ts";

describe("stored captures", () => {
  let archive: SqlArchive;
  let now = 0;
  beforeEach(() => {
    now = 7;
    archive = new SqlArchive(memoryDatabase(), () => now);
  });
  const put = (...captures: Capture[]) => archive.write(batch({ captures }));
  const ids = () => archive.listCaptures().map(({ id }) => id);

  it("are listed once each, newest first, up to the limit", () => {
    put(...Array.from({ length: 7 }, (_, n) => capture(`c${n}`, { at: n })));
    put(capture("c6", { at: 6, response_body: "again" }));
    expect(ids()).toEqual(["c6", "c5", "c4", "c3", "c2"]);
  });

  it("are evicted earlier if they are long", () => {
    const response_body = "x".repeat(60 * 1024 * 1024);
    for (const n of [1, 2, 3]) put(capture(`c${n}`, { at: n, response_body }));
    expect(ids()).toEqual(["c3", "c2"]);
  });

  it("show the beginning of their bodies in lists, and everything individually", () => {
    put(capture("c", { request_body: "q".repeat(5_000), response_body: "\u{1f600}".repeat(5_000) }));
    const [listed] = archive.listCaptures();
    expect(listed?.request_preview).toBe("q".repeat(2_000));
    expect(listed?.response_preview).toBe("\u{1f600}".repeat(1_000));
    expect(archive.readCapture("c")?.response_body.length).toBe(10_000);
  });

  it("stay cleared, also if older ones arrive later with another clock", () => {
    now = 1_000;
    put(capture("listed", { at: 900 }));
    expect(archive.clearCaptures()).toBe(1);
    now = 1_500;
    put(capture("late", { at: 999 }), capture("new", { at: 1_000 }));
    const captures = [capture("late, behind", { at: 698 }), capture("new, behind", { at: 700 })];
    archive.write(batch({ sentAt: 1_200, captures }));
    expect(ids()).toEqual(["new", "new, behind"]);
    expect(archive.readCapture("late")).toBeNull();
    expect(archive.clearCaptures()).toBe(2);
  });

  it("are cleared separately from the history", () => {
    now = 1_000;
    archive.clearCaptures();
    archive.write(
      batch({ records: [write("a", { created_at: 900 })], captures: [capture("a", { at: 900 })] }),
    );
    expect([ids(), archive.listHistory({ offset: 0, count: 9, q: "" }).total]).toEqual([[], 1]);
    archive.clearHistory();
    put(capture("b", { at: 1_001 }));
    expect(ids()).toEqual(["b"]);
  });

  it("become a sample even if they were cleared before they arrived", () => {
    const captures = [capture("a", { response_body: "first" })];
    archive.clearCaptures();
    put(...captures);
    expect(ids()).toEqual([]);
    expect(archive.saveSample({ captures }, "kept", "sessions")?.rounds).toHaveLength(1);
    expect(archive.readSample("kept")?.upstream).toBe("first");
    expect(archive.saveSample({ captures: [] }, "none", "sessions")).toBeNull();
  });

  it("become a sample with separate rounds", () => {
    put(
      capture("b", { at: 2, chain_key: "s", label: "continue", response_body: "second" }),
      capture("a", { at: 1, chain_key: "s", response_body: "first", request_body: "asked" }),
    );
    expect(archive.saveSample({ chainKey: "s" }, "kept", "sessions")?.rounds.length).toBe(2);
    archive.clearCaptures();
    expect(archive.readSample("kept")).toMatchObject({
      upstream: "firstsecond",
      meta: {
        saved_at: 7,
        rounds: [
          { capture_id: "a", label: "completion", length: 5, request_body: "asked" },
          { capture_id: "b", label: "continue", length: 6 },
        ],
      },
    });
    expect(archive.saveSample({ chainKey: "none" }, "kept", "sessions")).toBeNull();
    expect(archive.listSamples().map(({ sample_id }) => sample_id)).toEqual(["kept"]);
  });
});
