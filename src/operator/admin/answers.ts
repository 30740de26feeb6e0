import * as z from "zod";

/** Common part of the responses to edits. */
export const successSchema = () => z.object({ success: z.literal(true) });

/** Of answers with credentials, which no cache may store. */
export const NO_STORE = { headers: { "cache-control": "no-store" } };
