import * as z from "zod";

// A new isolate runs the body of every module before it serves anything, and most of the schemas that would be made there no
// request of its ever needs (docs/performance.md). So what modules declare is made at its first use.

type Fields = z.core.$ZodLooseShape;

/** What makes a value at the first call, and gives the same one at all others. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What zod makes an object of. It asks for the shape when the object is first parsed with, described or extended. */
function definition(fields: () => Fields, catchall?: z.ZodType) {
  const made = once(fields);
  return {
    type: "object" as const,
    get shape() {
      return made();
    },
    ...(catchall === undefined ? {} : { catchall }),
  };
}

/** `z.object` whose fields are made at its first use. */
export function lazyObject<Shape extends Fields>(fields: () => Shape): z.ZodObject<Shape, z.core.$strip>;
export function lazyObject(fields: () => Fields): z.ZodObject {
  return new z.ZodObject(definition(fields));
}

const anything = z.unknown();

/** `z.looseObject` whose fields are made at its first use. */
export function lazyLooseObject<Shape extends Fields>(fields: () => Shape): z.ZodObject<Shape, z.core.$loose>;
export function lazyLooseObject(fields: () => Fields): z.ZodObject {
  return new z.ZodObject(definition(fields, anything));
}
