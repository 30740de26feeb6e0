import { describe, expect, it } from "vitest";
import { checkFormat } from "../../../../../src/gateway/generation/format/format-check.ts";

const check = (value: unknown, schema: Record<string, unknown>) =>
  checkFormat(JSON.stringify(value), { type: "json-schema", schema });

describe("the check of an answer against a schema", () => {
  it("follows references", () => {
    const schema = {
      $defs: {
        node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, n: { type: "number" } } },
      },
      $ref: "#/$defs/node",
    };
    expect(check({ next: { next: { n: 1 } } }, schema).rank).toBe("valid");
    const refused = check({ next: { next: { n: "1" } } }, schema);
    expect(refused.rank).toBe("json");
    expect(refused.faults.join()).toContain("/next/next/n");
  });

  it("stops at exponentially growing references", () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
    const $defs = Object.fromEntries(names.map((name, index) => [name, twice(names[index + 1] ?? "end")]));
    expect(check({}, { $defs: { ...$defs, end: {} }, $ref: "#/$defs/a0" }).rank).toBe("valid");
  });

  it("reports several errors, and the first of very many", () => {
    const names = (n: number) => Array.from({ length: n }, (_, index) => `w${index}`);
    const faults = (n: number) => check([{}, {}], { items: { required: names(n) } }).faults.length;
    expect(faults(3)).toBeGreaterThan(2);
    expect(faults(1000)).toBeGreaterThan(2);
    const many = Array.from({ length: 1000 }, () => ({}));
    const refused = check(many, { items: { required: names(1000) } });
    expect(refused.rank).toBe("json");
    expect(refused.faults[0]).toContain("/0: ");
  });

  it("is complete for long answers", () => {
    const item = { type: "object", properties: { a: { type: "number" }, b: { type: "string" } } };
    const items = Array.from({ length: 20_000 }, (_, a) => ({ a, b: "x" }));
    expect(check([...items, { a: "no" }], { type: "array", items: item }).rank).toBe("json");
  });
});
