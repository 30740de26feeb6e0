import { expect, it } from "vitest";
import { claimDataVersion, DATA_VERSION, NewerDataError } from "../../../../src/core/storage/data-version.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

it("accepts new data, older data and its own, and leaves newer data unchanged", () => {
  const sql = memoryDatabase();
  const stored = () => sql.all("select version from data_version");
  claimDataVersion(sql);
  claimDataVersion(sql);
  expect(stored()).toEqual([{ version: DATA_VERSION }]);
  sql.all("update data_version set version = 1");
  claimDataVersion(sql);
  expect(stored()).toEqual([{ version: DATA_VERSION }]);
  sql.all("update data_version set version = ?", DATA_VERSION + 1);
  expect(() => claimDataVersion(sql)).toThrow(NewerDataError);
  expect(stored()).toEqual([{ version: DATA_VERSION + 1 }]);
});
