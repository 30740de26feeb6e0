import { expect, it } from "vitest";
import { pageHeaders } from "../../../../src/pages/answers/page-headers.ts";
import { Stopwatch } from "../../../../src/pages/browser/stopwatch.ts";
import { OPERATION_HEADERS } from "../../../../src/pages/http/openapi-descriptions.ts";

it("states the time of each step of a request, also of a page that leads elsewhere", () => {
  let now = 1_000;
  const watch = new Stopwatch(() => now);
  for (const [step, ms] of [
    ["queue", 5],
    ["load", 70],
    ["prepare", 0],
    ["load", 30],
    ["read", 9],
  ] as const) {
    now += ms;
    watch.lap(step);
  }
  const report = { url: "https://example.com/", status: 200, incomplete: null, overBudget: false };
  expect(pageHeaders({ ...report, spent: watch.timings })["server-timing"]).toBe(
    "queue;dur=5, load;dur=100, prepare;dur=0, read;dur=9",
  );
  expect(pageHeaders(report)).not.toHaveProperty("server-timing");
});

it("describes all page headers in the OpenAPI document", () => {
  const report = {
    url: "https://example.com/",
    status: 200,
    incomplete: "load_timeout" as const,
    overBudget: true,
  };
  const headers = pageHeaders({ ...report, spent: [{ step: "load", ms: 1 }] });
  const described = Object.keys(OPERATION_HEADERS).map((name) => name.toLowerCase());
  expect(described).toEqual(expect.arrayContaining(Object.keys(headers)));
});
