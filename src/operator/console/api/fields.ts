import * as z from "zod/mini";

// zod's schema compiler needs `eval`, which the page's content security policy forbids.
z.config({ jitless: true });

/** A text that may be absent. */
export const textField = z._default(z.string(), "");
