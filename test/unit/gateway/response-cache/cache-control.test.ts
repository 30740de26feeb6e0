import { expect, it } from "vitest";
import { parseCacheControl } from "../../../../src/gateway/response-cache/cache-control.ts";

const ANY_AGE = Number.POSITIVE_INFINITY;

it.each([
  [null, ANY_AGE, true],
  ["", ANY_AGE, true],
  ["no-transform, only-if-cached", ANY_AGE, true],
  ["no-cache", 0, true],
  ["No-Store", 0, false],
  ["max-age=60", 60, true],
  ['max-age = "60"', 60, true],
  ["max-age=0", 0, true],
  ["max-age=60, max-age=10", 10, true],
  ["max-age=99999999999999999999", 1e20, true],
  ["max-age=-1", 0, true],
  ["max-age", 0, true],
  ["max-age=60, no-cache", 0, true],
  [", ,no-store,,max-age=60", 0, false],
])("reads %s as at most %s seconds, stored: %s", (header, maxAge, isStorable) => {
  expect(parseCacheControl(header)).toEqual({ maxAge, isStorable });
});
