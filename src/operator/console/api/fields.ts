import * as z from "zod/mini";

// zod's schema compiler needs `eval`, which the page's content security policy forbids.
z.config({ jitless: true });

/** A text that an older gateway may omit. */
export const textField = z._default(z.string(), "");
/** A text that an older gateway may omit or send as null. */
export const nullableTextField = z._default(z.nullable(z.string()), "");
export const numberField = z._default(z.number(), 0);
export const booleanField = z._default(z.boolean(), false);
export const textListField = z._default(z.array(z.string()), []);

/** Schema for responses whose content is not used. */
export const ignoredResponse = z.unknown();
