/** Bounds of `captures.max_body_bytes`. A file of its own, because the console must not load the schemas. */
export const MIN_CAPTURED_BODY = 1_024;
export const MAX_CAPTURED_BODY = 8_388_608;
