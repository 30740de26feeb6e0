import { expect, it } from "vitest";
import { countSheets } from "../../../../../src/pages/browser/capture/print.ts";

const pdf = (text: string) => new TextEncoder().encode(`%PDF-1.4\n${text}\n%%EOF`);

it("counts the sheets of a PDF by the root of its page tree", () => {
  const leaf = "5 0 obj <</Type /Pages\n/Count 8\n/Kids [1 0 R]>> endobj";
  expect(
    countSheets(
      pdf(`${leaf}\n6 0 obj <</Type /Pages\n/Parent 7 0 R\n/Count 3>>\n7 0 obj <</Type /Pages\n/Count 11>>`),
    ),
  ).toBe(11);
});

it("is not deceived by what a page calls itself, and knows that it does not know", () => {
  expect(countSheets(pdf("<</Title (/Type /Page /Count 9)>>"))).toBe(0);
  expect(countSheets(pdf("<</Title (/Type /Pages /Count 9)>> <</Type /Pages /Count 2>>"))).toBe(2);
});
