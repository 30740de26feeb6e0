import * as z from "zod/mini";

// The compiler of schemas needs `eval`, which the page's policy forbids.
z.config({ jitless: true });

/** A text that an older gateway may leave out. */
export const text = z._default(z.string(), "");
/** The same, which may also be null. */
export const nullableText = z._default(z.nullable(z.string()), "");
export const number = z._default(z.number(), 0);
export const flag = z._default(z.boolean(), false);
export const texts = z._default(z.array(z.string()), []);

/** Any object: for answers of which nothing is read. */
export const anything = z.unknown();
