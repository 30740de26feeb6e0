import { expect, it } from "vitest";
import { parseDate } from "../../../../src/pages/metadata/dates.ts";

it.each([
  ["2024-03-05", "2024-03-05"],
  ["2024-03-05T10:00:00+01:00", "2024-03-05T09:00:00.000Z"],
  ["20240305T100000Z", "2024-03-05"],
  ["Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00.000Z"],
  ["Published on March 5th, 2024 at noon", "2024-03-05"],
  ["5. März 2024", "2024-03-05"],
  ["5 de marzo de 2024", "2024-03-05"],
  ["05.03.2024", "2024-03-05"],
  ["3/5/2024", "2024-03-05"],
  ["15/3/24", "2024-03-15"],
  ["2024年3月5日", "2024-03-05"],
  ["Fri Feb 18 10:27:24 2022", "2022-02-18"],
  [1709632800, "2024-03-05T10:00:00.000Z"],
  ["1709632800000", "2024-03-05T10:00:00.000Z"],
])("reads %s", (text, date) => {
  expect(parseDate(text)).toBe(date);
});

it.each(["yesterday", "5 March", "99/99/2024", "2024-02-31", "5 Monkeys 2024", "", null])(
  "finds no date in %s",
  (text) => {
    expect(parseDate(text)).toBeNull();
  },
);
