import { describe, expect, it } from "vitest";
import * as z from "zod";
import { camelOrSnakeObject } from "../../../../../src/gateway/dialects/content-generation/field-names.ts";

describe("names of the content-generation style", () => {
  const schema = camelOrSnakeObject(() => ({ maxOutputTokens: z.number() }));

  it("may be written in either case", () => {
    expect(schema.parse({ max_output_tokens: 1 })).toMatchObject({ maxOutputTokens: 1 });
    expect(schema.parse({ max__output_tokens: 1 })).toMatchObject({ maxOutputTokens: 1 });
    expect(schema.parse({ maxOutputTokens: 1 })).toMatchObject({ maxOutputTokens: 1 });
  });

  it("are converted in linear time", () => {
    const name = "_".repeat(1_000_000);
    expect(schema.parse({ maxOutputTokens: 1, [name]: 2 })).toMatchObject({ maxOutputTokens: 1 });
  });
});
