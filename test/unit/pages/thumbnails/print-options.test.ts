import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { readParameters } from "../../../../src/pages/http/parameter-table.ts";
import { QueryParameters } from "../../../../src/pages/http/query-parameters.ts";
import { PRINT_PARAMETERS } from "../../../../src/pages/thumbnails/print-options.ts";

const read = (query: Record<string, string>) =>
  readParameters(new QueryParameters(new URLSearchParams(query)), PRINT_PARAMETERS);

describe("the print parameters", () => {
  it("print all sheets without a header by default", () => {
    expect(read({})).toEqual({ header: null, footer: null, pageRanges: null, outline: false });
  });

  it("accept ascending ranges", () => {
    expect(read({ pageRanges: "1-3, 5,7 - 9" }).pageRanges).toEqual([
      { first: 1, last: 3 },
      { first: 5, last: 5 },
      { first: 7, last: 9 },
    ]);
  });

  it.each(["0", "3-1", "1,1", "5,2", "1-101", "1-60,70-120", "a", "1-", "-3", ",", "99999"])(
    "are refused with the ranges %s",
    (pageRanges) => {
      expect(() => read({ pageRanges })).toThrow(GatewayError);
    },
  );

  it("show a header as plain text, and fill its placeholders", () => {
    const { header } = read({ header: '<img src="http://x/">&{title}|{nothing}|{Page}/{pages}' });
    expect(header).toContain('&lt;img src="http://x/"&gt;&amp;<span class="title"></span>');
    expect(header).toContain("{nothing}");
    expect(header).toContain('<span class="pageNumber"></span>/<span class="totalPages"></span>');
    expect(header?.match(/<[a-z]+/g)).toEqual(["<div", "<span", "<span", "<span", "<span", "<span", "<span"]);
  });

  it("place one part in the middle, and two at the sides", () => {
    const texts = (footer: string) => read({ footer }).footer?.match(/>[^<]*(?=<\/span>)/g);
    expect(texts("a")).toEqual([">", ">a", ">"]);
    expect(texts("a | b")).toEqual([">a", ">", ">b"]);
    expect(() => read({ footer: "a|b|c|d" })).toThrow(GatewayError);
  });
});
