import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { lazyLooseObject, lazyObject } from "../../../../src/core/encoding/lazy-schema.ts";

type Fields = { a: z.ZodString };
type Kind = [name: string, object: (fields: () => Fields) => z.ZodObject<Fields>, read: object];

const KINDS: Kind[] = [
  ["an object", lazyObject, { a: "x" }],
  ["an object that keeps what it does not know", lazyLooseObject, { a: "x", b: 1 }],
];

describe.each(KINDS)("%s", (_, object, read) => {
  const fields = () => vi.fn(() => ({ a: z.string().min(1) }));

  it("creates its fields only when they are needed", () => {
    const make = fields();
    const schema = object(make);
    const within = z.object({
      list: z.array(schema).nullish(),
      preset: schema.prefault({ a: "" }),
      strict: schema.strict(),
      refined: schema.refine(() => true),
      either: z.union([z.string(), schema]),
      read: z.preprocess((value) => value, schema),
    });
    expect(make).not.toHaveBeenCalled();
    expect(within.safeParse({}).success).toBe(false);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it("parses and is described like an ordinary schema", () => {
    const make = fields();
    const schema = object(make);
    expect(schema.parse({ a: "x", b: 1 })).toEqual(read);
    expect(schema.safeParse({ a: "" }).error?.issues[0]?.path).toEqual(["a"]);
    expect(z.toJSONSchema(object(make))).toEqual(
      z.toJSONSchema(object === lazyObject ? z.object(make()) : z.looseObject(make())),
    );
  });

  it("can be extended, reduced and made strict", () => {
    const schema = object(fields());
    expect(schema.extend({ c: z.number() }).parse({ a: "x", c: 1 })).toEqual({ a: "x", c: 1 });
    expect(schema.pick({ a: true }).shape.a.parse("x")).toBe("x");
    expect(object(fields()).partial().parse({})).toEqual({});
    expect(object(fields()).strict().safeParse({ a: "x", b: 1 }).success).toBe(false);
  });
});
