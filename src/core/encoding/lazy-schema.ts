import * as z from "zod";
import { once } from "./once.ts";

// A new isolate runs the body of every module before it serves a request, but most isolates never need most of the schemas.
// Created at their first use, they save 13 % of the processor time of a start (95 %: 11 to 18 %; bench/results/startup.md).

type Fields = z.core.$ZodLooseShape;

/** The definition of a zod object. Zod reads the shape when the object first parses, is described or extended. */
function definition(fields: () => Fields, catchall?: z.ZodType, error?: z.core.$ZodErrorMap) {
  const getShape = once(fields);
  return {
    type: "object" as const,
    get shape() {
      return getShape();
    },
    ...(catchall === undefined ? {} : { catchall }),
    ...(error === undefined ? {} : { error }),
  };
}

/** `z.object` whose fields are created at its first use. */
export function lazyObject<Shape extends Fields>(fields: () => Shape): z.ZodObject<Shape, z.core.$strip>;
export function lazyObject(fields: () => Fields): z.ZodObject {
  return new z.ZodObject(definition(fields));
}

const anything = z.unknown();

/** `z.looseObject` whose fields are created at its first use. */
export function lazyLooseObject<Shape extends Fields>(fields: () => Shape): z.ZodObject<Shape, z.core.$loose>;
export function lazyLooseObject(fields: () => Fields): z.ZodObject {
  return new z.ZodObject(definition(fields, anything));
}

/**
 * `z.strictObject` whose fields are created at its first use.
 *
 * @param unknownName builds the error for an unknown member; `known` are the names of the valid members
 */
export function lazyStrictObject<Shape extends Fields>(
  fields: () => Shape,
  unknownName: (name: string, known: readonly string[]) => string,
): z.ZodObject<Shape, z.core.$strict>;
export function lazyStrictObject(
  fields: () => Fields,
  unknownName: (name: string, known: readonly string[]) => string,
): z.ZodObject {
  const getShape = once(fields);
  return new z.ZodObject(
    definition(getShape, z.never(), (issue) => {
      const [name] = issue.code === "unrecognized_keys" ? issue.keys : [];
      return name === undefined ? undefined : unknownName(name, Object.keys(getShape()));
    }),
  );
}
