import * as z from "zod";

// A new isolate runs the body of every module before it serves anything, and most of the schemas that would be made there no
// request of its ever needs (docs/performance.md). So what modules declare is made at its first use.

type Fields = z.core.$ZodLooseShape;

/** What makes a value at the first call, and gives the same one at all others. A promise that rejects is made anew at the next. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    if (made !== undefined) return made.value;
    const making = { value: make() };
    made = making;
    if (making.value instanceof Promise)
      making.value.catch(() => {
        if (made === making) made = undefined;
      });
    return making.value;
  };
}

/** What zod makes an object of. It asks for the shape when the object is first parsed with, described or extended. */
function definition(fields: () => Fields, catchall?: z.ZodType, error?: z.core.$ZodErrorMap) {
  const made = once(fields);
  return {
    type: "object" as const,
    get shape() {
      return made();
    },
    ...(catchall === undefined ? {} : { catchall }),
    ...(error === undefined ? {} : { error }),
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

/**
 * `z.strictObject` whose fields are made at its first use.
 *
 * @param unknownName what is said of a member that there is not; `known` are the names of those that there are
 */
export function lazyStrictObject<Shape extends Fields>(
  fields: () => Shape,
  unknownName: (name: string, known: readonly string[]) => string,
): z.ZodObject<Shape, z.core.$strict>;
export function lazyStrictObject(
  fields: () => Fields,
  unknownName: (name: string, known: readonly string[]) => string,
): z.ZodObject {
  const made = once(fields);
  return new z.ZodObject(
    definition(made, z.never(), (issue) => {
      const [name] = issue.code === "unrecognized_keys" ? issue.keys : [];
      return name === undefined ? undefined : unknownName(name, Object.keys(made()));
    }),
  );
}
