import { describe, expect, it } from "vitest";
import { objectOf } from "./support.ts";

const textOf = (format: object) =>
  objectOf({ text: { format } }).build({ status: "in_progress" }, [])["text"];

describe("the format that a response repeats", () => {
  const schema = { type: "object" };

  it("has every member that the real API requires", () => {
    const format = { type: "json_schema", name: "answer", schema };
    const full = { ...format, strict: false };
    expect(textOf(format)).toEqual({ format: full });
    expect(textOf({ type: "json_schema", schema })).toEqual({ format: { ...full, name: "response" } });
    expect(textOf({ ...format, description: 1, strict: null })).toEqual({ format: full });
  });

  it("repeats the request, also in the form of chat completions", () => {
    const own = { name: "answer", description: "Two names", schema, strict: true };
    const format = { type: "json_schema", ...own };
    expect(textOf(format)).toEqual({ format });
    expect(textOf({ type: "json_schema", json_schema: own })).toEqual({ format });
  });

  it("has no further members without a schema", () => {
    expect(textOf({ type: "json_object" })).toEqual({ format: { type: "json_object" } });
  });
});
